-- What was made here and is not known to be in the shared store: arts by art key, finals by final key.
CREATE TABLE outbox (
  kind TEXT NOT NULL CHECK (kind IN ('art', 'final')),
  key TEXT NOT NULL,
  since REAL NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT;
