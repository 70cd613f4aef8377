"""What every workflow shares: effects, findings, weighing, citations, reports, import job."""
