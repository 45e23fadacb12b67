// Makes the secrets of compose.yaml, or of a Kubernetes Secret, in a folder: node deploy/make-secrets.mjs [folder]
// A file that exists is left as it is, so it can be run again. Files of brokers are empty until you fill them in.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), 'secrets'))
const password = () => randomBytes(24).toString('hex')

mkdirSync(folder, { recursive: true, mode: 0o700 })
secret('postgres-password', password)
const owner = secret('owner-password', password)
const service = secret('service-password', password)
secret('database-url', () => `postgres://trunkline_service:${service}@postgres/trunkline`)
secret('database-owner-url', () => `postgres://trunkline_owner:${owner}@postgres/trunkline`)
const nats = secret('nats-password', password)
secret('nats-url', () => `nats://trunkline:${nats}@nats:4222`)
secret('nats.conf', () =>
  [
    'listen: "0.0.0.0:4222"',
    'http: "127.0.0.1:8222"',
    'max_payload: 1MB',
    'authorization {',
    '  user: trunkline',
    `  password: "${nats}"`,
    '}'
  ].join('\n')
)
// With an instance key of its own, so that the first key can be retired later (docs/guides/operating.md).
const key = () => randomBytes(32).toString('base64')
secret('master-keys', () => `first:${key()},instance:${key()}`)
secret('metrics-token', password)
secret('grafana-password', password)
for (const broker of ['alpaca', 'tradier', 'tradestation']) secret(`${broker}-client-secret`, () => '')
process.stdout.write(`The secrets are in ${folder}. Keep a copy of master-keys elsewhere: a backup of the database opens only with it.\n`)

function secret(name, make) {
  const file = join(folder, name)
  // Containers read them as other users; the folder keeps out everybody else of this machine.
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o444 })
  return readFileSync(file, 'utf8').trim()
}
