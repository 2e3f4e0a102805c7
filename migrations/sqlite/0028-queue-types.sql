-- A queue holds calls, or only those that were received as spans.
ALTER TABLE annotation_queues
ADD COLUMN queue_type TEXT NOT NULL DEFAULT 'call' CHECK (queue_type IN ('call', 'span'));
