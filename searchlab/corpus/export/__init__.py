"""Writing documents in the formats of reference managers, spreadsheets and programs."""
