-- The run ledger, schema 4. Times are Unix seconds. Ids are derived (thumbforge/ids.py) but for run.id.
-- Rows of world things (video, playlist, template, provider_profile) are keyed by what they are, never by a run.
-- `seen` and `manifest_seen` are what a file was (size, time, inode) when its bytes were last read and found right.

CREATE TABLE asset (
  sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
  suffix TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  created_at REAL NOT NULL,
  seen TEXT
) STRICT;

CREATE TABLE template (
  spec_hash TEXT PRIMARY KEY CHECK (length(spec_hash) = 64),
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  content_json TEXT NOT NULL,
  created_at REAL NOT NULL
) STRICT;

CREATE TABLE provider_profile (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  provider TEXT NOT NULL,
  version INTEGER NOT NULL,
  params_json TEXT NOT NULL,
  created_at REAL NOT NULL
) STRICT;

CREATE TABLE playlist (
  youtube_id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  created_at REAL NOT NULL
) STRICT;

CREATE TABLE video (
  youtube_id TEXT PRIMARY KEY,
  created_at REAL NOT NULL
) STRICT;

CREATE TABLE run (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('hero', 'iterate', 'batch', 'ingest', 'audit', 'repair')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  series TEXT,
  playlist_id TEXT REFERENCES playlist (youtube_id) ON DELETE RESTRICT,
  spec_hash TEXT REFERENCES template (spec_hash) ON DELETE RESTRICT,
  profile_id TEXT REFERENCES provider_profile (id) ON DELETE RESTRICT,
  parent_run_id TEXT REFERENCES run (id) ON DELETE RESTRICT,
  reference_sha256 TEXT REFERENCES asset (sha256) ON DELETE RESTRICT,
  picked_iteration_id TEXT REFERENCES iteration (id) ON DELETE RESTRICT,
  params_json TEXT NOT NULL,
  checkpoint_json TEXT NOT NULL DEFAULT '{}',
  result_json TEXT,
  exit_code INTEGER,
  error_text TEXT,
  claims INTEGER NOT NULL DEFAULT 0,
  recoveries INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_epoch INTEGER NOT NULL DEFAULT 0,
  lease_expires_at REAL,
  pause_requested INTEGER NOT NULL DEFAULT 0 CHECK (pause_requested IN (0, 1)),
  cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
  created_at REAL NOT NULL,
  started_at REAL,
  finished_at REAL,
  updated_at REAL NOT NULL,
  CHECK ((lease_owner IS NULL) = (lease_expires_at IS NULL)),
  CHECK (lease_owner IS NULL OR status = 'running'),
  CHECK (status = 'running' OR (pause_requested = 0 AND cancel_requested = 0))
) STRICT;
CREATE INDEX run_by_time ON run (created_at);
CREATE INDEX run_by_parent ON run (parent_run_id) WHERE parent_run_id IS NOT NULL;

-- One image slot of a run. Its identity never changes; its history is its attempts, its pictures are its finals.
CREATE TABLE iteration (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES run (id) ON DELETE RESTRICT,
  item_key TEXT NOT NULL,
  idempotency_key TEXT NOT NULL UNIQUE,
  key_parts_json TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
  attempt_id TEXT REFERENCES attempt (id) ON DELETE RESTRICT,
  final_key TEXT REFERENCES final (final_key) ON DELETE RESTRICT,
  error_text TEXT,
  created_at REAL NOT NULL,
  started_at REAL,
  finished_at REAL,
  updated_at REAL NOT NULL,
  UNIQUE (run_id, item_key, idempotency_key),
  CHECK (status <> 'completed' OR (attempt_id IS NOT NULL AND final_key IS NOT NULL))
) STRICT;

-- A run's frozen plan: what each item was to become, also where nothing had to be done for it.
CREATE TABLE run_item (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  item_key TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('skip', 'refinish', 'retry', 'create')),
  reason TEXT NOT NULL,
  plan_json TEXT NOT NULL,
  iteration_id TEXT REFERENCES iteration (id) ON DELETE RESTRICT,
  UNIQUE (run_id, item_key),
  UNIQUE (run_id, ordinal)
) STRICT;
CREATE INDEX run_item_by_iteration ON run_item (iteration_id);

-- One try of an iteration. `art_sha256` is what it brought; adopted art is an attempt with outcome ok and no call.
CREATE TABLE attempt (
  id TEXT PRIMARY KEY,
  iteration_id TEXT NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
  n INTEGER NOT NULL CHECK (n > 0),
  take INTEGER NOT NULL DEFAULT 1 CHECK (take > 0),
  art_key TEXT NOT NULL,
  executor_run_id TEXT NOT NULL,
  lease_epoch INTEGER NOT NULL,
  request_json TEXT NOT NULL,
  opened_at REAL NOT NULL,
  called_at REAL,
  closed_at REAL,
  outcome TEXT CHECK (outcome IN ('ok', 'transient', 'permanent', 'interrupted', 'lost', 'pruned')),
  calls INTEGER NOT NULL DEFAULT 0,
  perhaps_billed INTEGER NOT NULL DEFAULT 0,
  cost TEXT,
  currency TEXT,
  tokens INTEGER,
  response_json TEXT,
  error_text TEXT,
  art_sha256 TEXT REFERENCES asset (sha256) ON DELETE RESTRICT,
  UNIQUE (iteration_id, n),
  CHECK ((closed_at IS NULL) = (outcome IS NULL)),
  CHECK ((outcome IS 'ok') = (art_sha256 IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX one_open_attempt ON attempt (iteration_id) WHERE closed_at IS NULL;
CREATE UNIQUE INDEX one_call_per_art ON attempt (art_key) WHERE closed_at IS NULL;
CREATE INDEX attempt_by_executor ON attempt (executor_run_id) WHERE closed_at IS NULL;
CREATE INDEX art_by_key ON attempt (art_key) WHERE art_sha256 IS NOT NULL;
CREATE INDEX cut_short_by_key ON attempt (art_key) WHERE outcome IN ('lost', 'interrupted');

-- A finished picture, once per final key; nothing rewrites it.
CREATE TABLE final (
  final_key TEXT PRIMARY KEY CHECK (length(final_key) = 64),
  iteration_id TEXT NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
  art_sha256 TEXT NOT NULL REFERENCES asset (sha256) ON DELETE RESTRICT,
  sha256 TEXT NOT NULL REFERENCES asset (sha256) ON DELETE RESTRICT,
  compliant INTEGER NOT NULL CHECK (compliant IN (0, 1)),
  report_json TEXT NOT NULL,
  created_at REAL NOT NULL,
  manifest_seen TEXT
) STRICT;
CREATE INDEX final_by_iteration ON final (iteration_id);

-- What lies in out/<series>/ by our hand: a file is replaced only while it still has the hash that stands here.
-- `locked`: approved by the user; nothing that changes makes another picture of the item.
CREATE TABLE export (
  series TEXT NOT NULL,
  item_key TEXT NOT NULL,
  path TEXT NOT NULL,
  final_key TEXT NOT NULL REFERENCES final (final_key) ON DELETE CASCADE,
  sha256 TEXT NOT NULL,
  locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
  updated_at REAL NOT NULL,
  seen TEXT,
  PRIMARY KEY (series, item_key)
) STRICT;

CREATE TABLE playlist_item (
  id TEXT PRIMARY KEY,
  playlist_id TEXT NOT NULL REFERENCES playlist (youtube_id) ON DELETE RESTRICT,
  video_id TEXT NOT NULL REFERENCES video (youtube_id) ON DELETE RESTRICT,
  occurrence INTEGER NOT NULL CHECK (occurrence > 0),
  UNIQUE (playlist_id, video_id, occurrence)
) STRICT;

CREATE TABLE item_fact (
  id TEXT PRIMARY KEY,
  playlist_item_id TEXT NOT NULL REFERENCES playlist_item (id) ON DELETE CASCADE,
  predicate TEXT NOT NULL CHECK (predicate IN ('member', 'position', 'part', 'title')),
  value_json TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('ingest', 'user')),
  valid_from REAL NOT NULL,
  valid_to REAL,
  opened_by_run TEXT NOT NULL,
  closed_by_run TEXT,
  superseded_by TEXT UNIQUE REFERENCES item_fact (id),
  CHECK ((valid_to IS NULL) = (closed_by_run IS NULL))
) STRICT;
CREATE UNIQUE INDEX one_open_fact ON item_fact (playlist_item_id, predicate) WHERE valid_to IS NULL;

-- Money set aside for an attempt's calls by the local day they were begun on: each the price, but for the last one where
-- its service told what it cost. No reference to the attempt: what was spent stays spent when its run is deleted.
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

-- What was made here and is not known to be in the shared store: arts by art key, finals by final key.
CREATE TABLE outbox (
  kind TEXT NOT NULL CHECK (kind IN ('art', 'final')),
  key TEXT NOT NULL,
  since REAL NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT;

-- Slots that bound what runs at once over all processes: `provider:<key>` has as many as the profile allows.
CREATE TABLE lease (
  name TEXT NOT NULL,
  slot INTEGER NOT NULL,
  owner TEXT NOT NULL,
  expires_at REAL NOT NULL,
  PRIMARY KEY (name, slot)
) STRICT;
