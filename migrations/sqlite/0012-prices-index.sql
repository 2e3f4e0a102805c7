-- All prices of a project are read at once; none of its models are looked up.

DROP INDEX prices_project_id_llm_id_effective_at_us;
