-- A query of a rare type reads no other feedback.
CREATE INDEX feedback_project_id_feedback_type_created_at_us_id
ON feedback (project_id, hashtextextended(feedback_type, 0), created_at_us, id);
