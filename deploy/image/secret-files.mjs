// Loaded before each program of the image: reads secrets from files, which orchestrators mount, so that they are in no environment that
// another process or `docker inspect` shows. TRUNKLINE_DATABASE_URL_FILE names the file with TRUNKLINE_DATABASE_URL, and so on.
import { readFileSync } from 'node:fs'

/** The secret settings of the service (docs/settings.md); a test compares. */
export const SECRETS = [
  'TRUNKLINE_METRICS_TOKEN',
  'TRUNKLINE_DATABASE_URL',
  'TRUNKLINE_DATABASE_OWNER_URL',
  'TRUNKLINE_MASTER_KEYS',
  'TRUNKLINE_NATS_URL',
  'TRUNKLINE_OIDC_CLIENT_SECRET',
  'TRUNKLINE_SANDBOX_CLIENT_SECRET',
  'TRUNKLINE_ALPACA_CLIENT_SECRET',
  'TRUNKLINE_TRADIER_CLIENT_SECRET',
  'TRUNKLINE_TRADESTATION_CLIENT_SECRET'
]

const faults = SECRETS.flatMap(name => {
  const file = process.env[`${name}_FILE`]
  // Removed, because the service warns of names that it does not know; and so nothing is read again in a thread or a child.
  delete process.env[`${name}_FILE`]
  if (file === undefined || file === '') return []
  if ((process.env[name] ?? '') !== '') return [`${name} and ${name}_FILE are both set; remove one.`]
  try {
    process.env[name] = readFileSync(file, 'utf8').trim()
    return []
  } catch (error) {
    return [`${name}_FILE names ${file}, which cannot be read: ${error.code}.`]
  }
})

if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\n`)
  process.exit(2)
}
