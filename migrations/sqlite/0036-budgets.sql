-- Limits of money for a key, a project or a person, in 10^-9 US dollars; null: none.
CREATE TABLE budgets (
  id TEXT NOT NULL PRIMARY KEY,
  subject_kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  period TEXT NOT NULL,
  zone TEXT NOT NULL,
  hard_nanos INTEGER,
  soft_nanos INTEGER,
  created_at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX budgets_subject ON budgets (subject_kind, subject_id);
CREATE INDEX budgets_created_at_us ON budgets (created_at_us, id);

-- What is settled, by the begin of the period.
CREATE TABLE budget_spending (
  budget_id TEXT NOT NULL,
  period_start_us INTEGER NOT NULL,
  spent_nanos INTEGER NOT NULL,
  PRIMARY KEY (budget_id, period_start_us)
) STRICT;

-- What a process may spend before it asks again. A lease that has expired is counted as spent as a whole.
CREATE TABLE budget_leases (
  id TEXT NOT NULL PRIMARY KEY,
  budget_id TEXT NOT NULL,
  period_start_us INTEGER NOT NULL,
  held_nanos INTEGER NOT NULL,
  -- Of this lease since its begin, all of it in budget_spending.
  settled_nanos INTEGER NOT NULL,
  expires_at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX budget_leases_budget_id ON budget_leases (budget_id, period_start_us);
