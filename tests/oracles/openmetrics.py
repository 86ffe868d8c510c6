"""python3 openmetrics.py < TEXT: exits with 0 if Prometheus' own OpenMetrics parser accepts the text,
and prints a line `name labels value` for each sample."""

import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
        print(sample.name, labels or "-", sample.value)
