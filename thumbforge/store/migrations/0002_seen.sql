-- What a file was (size, time, inode) when its bytes were last read and found right: as long as it is that still, a
-- batch does not read it again. A cache: NULL costs one reading.
ALTER TABLE asset ADD COLUMN seen TEXT;
ALTER TABLE export ADD COLUMN seen TEXT;
ALTER TABLE final ADD COLUMN manifest_seen TEXT;
