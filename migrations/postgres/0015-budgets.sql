-- Limits of money for a key, a project or a person, in 10^-9 US dollars; null: none.
CREATE TABLE budgets (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  subject_kind text NOT NULL,
  subject_id text NOT NULL,
  period text NOT NULL,
  zone text NOT NULL,
  hard_nanos bigint,
  soft_nanos bigint,
  created_at_us bigint NOT NULL
);
CREATE INDEX budgets_subject ON budgets (subject_kind, subject_id);
CREATE INDEX budgets_created_at_us ON budgets (created_at_us, id);

-- What is settled, by the begin of the period.
CREATE TABLE budget_spending (
  budget_id text COLLATE "C" NOT NULL,
  period_start_us bigint NOT NULL,
  spent_nanos bigint NOT NULL,
  PRIMARY KEY (budget_id, period_start_us)
);

-- What a process may spend before it asks again. A lease that has expired is counted as spent as a whole.
CREATE TABLE budget_leases (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  budget_id text COLLATE "C" NOT NULL,
  period_start_us bigint NOT NULL,
  held_nanos bigint NOT NULL,
  -- Of this lease since its begin, all of it in budget_spending.
  settled_nanos bigint NOT NULL,
  expires_at_us bigint NOT NULL
);
CREATE INDEX budget_leases_budget_id ON budget_leases (budget_id, period_start_us);
