/** The service as a program: reads the settings once, starts, says where everything is, and stops when it is told to. */

import { join, resolve } from 'node:path'
import { pino } from 'pino'
import { compose } from './compose.ts'
import { SettingsInvalid } from './config/setting.ts'
import { type Settings, secretValuesOf, settingsOf } from './config/settings.ts'
import { PinoLog } from './ops/log.ts'
import { die, endOnUncaught } from './ops/process-policy.ts'
import { welcome } from './ops/welcome.ts'

const started = performance.now()
const settings = readOrExit()
const log = openLog(settings)

endOnUncaught(log)

const service = await compose(settings, log, process.env).catch(cause => {
  log.error('the service did not start', { cause })
  process.stderr.write(`trunkline did not start: ${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exit(1)
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal))
const isTerminal = process.stdout.isTTY === true
const startedInMs = Math.round(performance.now() - started)
const page = {
  url: service.url,
  brokers: service.brokers.map(({ capabilities: { id }, environment }) => ({ id, environment })),
  demo: service.demo?.demo ?? null
}
process.stdout.write(await welcome(page, { startedInMs, isTerminal, file: join(resolve(settings.dataDir), 'demo-platform.json') }))
if (isTerminal) service.onNewLink(link => process.stdout.write(`\nThe first page was opened. To open it in another browser:\n  ${link}\n`))

async function stop(signal: string): Promise<void> {
  log.info('stopping', { signal })
  const patience = setTimeout(
    () => die(log, 'the stop took too long', new Error(`${settings.shutdownSeconds} s are over`)),
    settings.shutdownSeconds * 1_000
  )
  await service.stop()
  clearTimeout(patience)
  log.info('stopped')
  process.exitCode = 0
}

function readOrExit(): Settings {
  try {
    return settingsOf(process.env)
  } catch (cause) {
    if (!(cause instanceof SettingsInvalid)) throw cause
    process.stderr.write(
      `${cause.message}\nEvery setting is described in docs/settings.md; check them all with: npm run cli -- check-config\n`
    )
    process.exit(2)
  }
}

/** On a terminal the first page stays readable: the log goes to a file beside the data. */
function openLog(settings: Settings): PinoLog {
  const { logLevel, logFile, dataDir } = settings
  const secrets = secretValuesOf(settings)
  const path = logFile ?? (process.stdout.isTTY ? join(resolve(dataDir), 'trunkline.log') : null)
  if (path === null) return new PinoLog(logLevel, undefined, secrets)
  // Written at once, so that the last words before an end are not lost.
  return new PinoLog(logLevel, pino.destination({ dest: path, mkdir: true, mode: 0o600, sync: true }), secrets)
}
