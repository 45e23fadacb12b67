# What the guides' commands begin with: the helpers of README.md and, unless the terminal has one already, a user and a link to connect.
PATH="$PWD/node_modules/.bin:$PATH"
json() { node -e '
  const [wanted, text] = [process.argv[1], require("node:fs").readFileSync(0, "utf8")]
  const fail = why => { console.error(why, text || "(no answer)"); process.exit(1) }
  let answer
  try { answer = JSON.parse(text) } catch { fail("This is not JSON:") }
  if ((answer?.code ?? answer?.error?.code) && /answer\.(code|message)/.test(wanted) === false) fail("The call failed:")
  try { console.log(eval(wanted)) } catch (error) { fail(error.message + ", in the answer") }' "$1"; }
DATA=${TRUNKLINE_DATA_DIR:-.data}
demo() { json "answer.$1" < "$DATA/demo-platform.json"; }
URL=$(demo base_url) CLIENT_ID=$(demo client_id) CLIENT_SECRET=$(demo client_secret)
platform() { curl -sS -H "client-id: $CLIENT_ID" -H "client-secret: $CLIENT_SECRET" -H 'content-type: application/json' "$@"; }
user() { platform -H "user-id: $USER_ID" -H "user-secret: $USER_SECRET" "$@"; }
wait_for() { WHAT=$1; shift; for TRY in $(seq 120); do "$@" && return; sleep 1; done; echo "Waited two minutes, and there is still no $WHAT" >&2; return 1; }
STARTED=; trap 'kill $(echo $STARTED) 2>/dev/null' EXIT
if [ -z "${USER_SECRET:-}" ]; then
  USER_ID=grace-$(date +%s)-$$
  USER_SECRET=$(platform $URL/users -d '{"user_id": "'$USER_ID'"}' | json 'answer["user-secret"]')
  user $URL/connections -d '{"connection_type": "trade", "broker": "SANDBOX"}' | json answer.authorization_url
fi
export URL CLIENT_ID CLIENT_SECRET USER_ID USER_SECRET STREAM_URL=$(demo stream_url)
