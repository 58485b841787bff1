"""What charts show; their shapes are Vega-Lite in report-templates/charts.json."""
