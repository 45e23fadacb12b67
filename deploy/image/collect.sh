#!/bin/sh
# Collects in a folder what the second stage of the image needs of the first one's system, and removes from /app what no container needs.
set -eu
out="$1"

mkdir -p "$out/usr/local/bin" "$out/etc" "$out/tmp" "$out/dev" "$out/proc" "$out/run/secrets" "$out/sys" "$out/var/lib/dpkg" "$out/var/lib/trunkline"
chmod 1777 "$out/tmp"
cp node_modules/node-linux-*/bin/node "$out/usr/local/bin/node"

# Its libraries, and the loader, where it looks for them.
ldd "$out/usr/local/bin/node" >/tmp/libraries
if grep 'not found' /tmp/libraries; then exit 1; fi
grep -o '/[^ ]*' /tmp/libraries | while read -r library; do
  mkdir -p "$out$(dirname "$library")"
  cp -L "$library" "$out$library"
done

# Scanners find the versions of these libraries here.
cp /etc/os-release "$out/etc/os-release"
dpkg-query --status libc6 libgcc-s1 libstdc++6 libatomic1 >"$out/var/lib/dpkg/status"

echo 'trunkline:x:65532:65532:trunkline:/var/lib/trunkline:/sbin/nologin' >"$out/etc/passwd"
echo 'trunkline:x:65532:' >"$out/etc/group"
echo 'hosts: files dns' >"$out/etc/nsswitch.conf"
chown 65532:65532 "$out/var/lib/trunkline"
chmod 700 "$out/var/lib/trunkline"

# The Node of the lock is outside node_modules now. Types and maps are for development.
rm -rf node_modules/node-* packages/testkit node_modules/@trunkline/testkit node_modules/.bin
find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
