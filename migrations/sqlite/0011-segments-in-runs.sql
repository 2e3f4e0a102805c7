-- Segments hold the latencies once more, sorted within parts of the hour and within groups of calls: all
-- segments are built again.
UPDATE stats_hours SET is_dirty = 1;
