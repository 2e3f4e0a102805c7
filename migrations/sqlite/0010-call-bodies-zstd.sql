-- Long bodies are kept compressed: then the text's column is null and the one of the same name with zstd holds it.
ALTER TABLE call_bodies ADD COLUMN attributes_zstd BLOB;
ALTER TABLE call_bodies ADD COLUMN inputs_zstd BLOB;
ALTER TABLE call_bodies ADD COLUMN output_zstd BLOB;
ALTER TABLE call_bodies ADD COLUMN summary_zstd BLOB;
ALTER TABLE call_bodies ADD COLUMN otel_dump_zstd BLOB;
