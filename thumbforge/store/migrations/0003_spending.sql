-- What calls have cost by the day they were begun on, so that `budget.day` holds over all runs of that day.
CREATE TABLE spending (
  attempt_id TEXT NOT NULL,
  day TEXT NOT NULL,
  currency TEXT NOT NULL,
  price TEXT NOT NULL,
  calls INTEGER NOT NULL,
  told TEXT,
  PRIMARY KEY (attempt_id, day)
) STRICT;
CREATE INDEX spending_by_day ON spending (day);
