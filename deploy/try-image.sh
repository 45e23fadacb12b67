#!/bin/bash
# Builds the image without Docker and without a registry, and runs it as a cluster's container runs: root's files read-only, no root, no
# capabilities. For machines with Debian's packages buildah and debootstrap; needs root. Not part of the tests.
#
#   deploy/try-image.sh [folder]     folder: for the system and the image, default /var/tmp/trunkline-image
#
# The first stage of the Dockerfile runs on a Debian made by debootstrap, with the locked Node and this machine's npm, in place of the
# image that it names. What is built from it is the same but for the versions of the system libraries.
set -eu
cd "$(dirname "$0")/.."
folder="${1:-/var/tmp/trunkline-image}"
mkdir -p "$folder"
buildah() { command buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"; }

echo '1. The base: Debian, Node and npm'
base="$folder/debian"
if [ ! -e "$base/complete" ]; then
  rm -rf "$base"
  debootstrap --variant=minbase --include=ca-certificates,libatomic1 bookworm "$base" >"$folder/debootstrap.log"
  touch "$base/complete"
fi
cp node_modules/node-linux-*/bin/node "$base/usr/bin/node"
mkdir -p "$base/usr/lib/node_modules"
cp -r "$(npm root --global)/npm" "$base/usr/lib/node_modules/"
ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/bin/npm"
container="$(buildah from scratch)"
# Behind a proxy that has certificates of its own, npm needs them.
if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
  cp -L "$NODE_EXTRA_CA_CERTS" "$base/etc/ssl/certs/extra.pem"
  buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/extra.pem "$container"
fi
buildah copy --quiet "$container" "$base" / >/dev/null
buildah commit --quiet --rm "$container" trunkline-base >/dev/null

echo '2. The image'
buildah build --isolation chroot --build-arg BUILD_IMAGE=localhost/trunkline-base --file deploy/Dockerfile --tag trunkline .

echo '3. The container: its files'
container="$(buildah from trunkline)"
root="$(buildah mount "$container")"
trap 'buildah umount "$container" >/dev/null; buildah rm "$container" >/dev/null' EXIT
for part in / /usr/local/bin/node /app/node_modules /app/packages; do du -sh "$root$part" | sed "s#$root##"; done
if [ -e "$root/bin/sh" ] || [ -e "$root/app/packages/testkit" ] || [ -e "$root/app/node_modules/typescript" ]; then
  echo 'The image has a shell, tests or tools for development.'
  exit 1
fi

echo '4. The container: started, asked and stopped'
export root
unshare --mount --pid --fork bash -eu <<'INSIDE'
mount --bind "$root" "$root"
mount --options remount,bind,ro "$root"
mount --types proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --types tmpfs tmpfs "$root/tmp"
mount --types tmpfs --options uid=65532,gid=65532,mode=0700 tmpfs "$root/var/lib/trunkline"
echo a-token-of-24-characters >"$root/tmp/metrics-token"
# As the image says, except for the port.
node=(
  env --ignore-environment PATH=/usr/local/bin NODE_ENV=production NODE_OPTIONS=--import=/app/deploy/image/secret-files.mjs
  TRUNKLINE_HOST=0.0.0.0 TRUNKLINE_PORT=18080 TRUNKLINE_DATA_DIR=/var/lib/trunkline TRUNKLINE_ACCESS_LOG=none
  TRUNKLINE_METRICS_TOKEN_FILE=/tmp/metrics-token
  /usr/bin/setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+sys_chroot,+setuid,+setgid
  /usr/sbin/chroot --userspec=65532:65532 --groups=65532 "$root" /usr/local/bin/node
)
log="$(mktemp)"
cd /
"${node[@]}" /app/packages/server/src/main.ts >"$log" 2>&1 &
for _ in $(seq 120); do if "${node[@]}" /app/deploy/image/ready.mjs; then break; fi; sleep 1; done
"${node[@]}" /app/deploy/image/ready.mjs || { cat "$log"; exit 1; }
echo 'ready, by the health check of the container'
"${node[@]}" --eval "
  const { readFileSync, writeFileSync } = require('node:fs')
  console.log(/^CapEff.*/m.exec(readFileSync('/proc/self/status', 'utf8'))[0], 'user', process.getuid(), 'Node', process.version)
  for (const file of ['/app/x', '/etc/x', '/usr/local/bin/x'])
    try { writeFileSync(file, ''); console.log(file, 'was written') } catch (error) { console.log(file, error.code) }"
"${node[@]}" --eval "
  const ask = async (path, headers) => console.log(path, (await fetch('http://127.0.0.1:18080' + path, { headers })).status)
  ask('/metrics', { authorization: 'Bearer a-token-of-24-characters' })
  for (const path of ['/metrics', '/healthz', '/docs', '/docs/guides/orders', '/openapi.json']) ask(path)"
"${node[@]}" /app/packages/server/src/cli.ts platform list
kill -TERM %1
wait %1
echo 'ended gracefully'
cat "$log"
INSIDE
