# Denies writing below generated/: reads the call on stdin, and says why by exit code 2 and stderr.
if grep -q '"file_path": *"[^"]*generated/'; then
  echo "generated/ is made by tools/gen.sh: run that." >&2
  exit 2
fi
