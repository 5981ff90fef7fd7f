"""Reads events of OCSF, one a line, and prints how many of them the published schema of each version accepts.

    pip install ocsf-json-schema==1.2.0 jsonschema==4.26.0
"""

import collections
import json
import sys

from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

events = [json.loads(line) for line in sys.stdin]
failed = False
for version in ["1.4.0", "1.8.0"]:
    schema = OcsfJsonSchemaEmbedded(get_ocsf_schema(version=version))
    validators = {}
    classes = collections.Counter()
    problems = collections.Counter()
    for event in events:
        profiles = tuple(event["metadata"].get("profiles", []))
        kind = (event["class_uid"], profiles)
        if kind not in validators:
            name = schema.lookup_class_name_from_uid(class_uid=kind[0])
            validators[kind] = Draft202012Validator(
                schema.get_class_schema(class_name=name, profiles=list(profiles))
            )
        classes[kind[0]] += 1
        # An event names the version of the schema that it was written for.
        own = {**event, "metadata": {**event["metadata"], "version": version}}
        for error in validators[kind].iter_errors(own):
            problems[f"{kind[0]} {error.json_path}: {error.message[:200]}"] += 1
    print(f"OCSF {version}: {len(events)} events, classes {dict(classes)}, {sum(problems.values())} problems")
    for problem, count in problems.most_common(20):
        print(f"  {count} × {problem}")
    failed = failed or len(problems) > 0
sys.exit(1 if failed else 0)
