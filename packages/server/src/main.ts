/** The service as a program: reads the settings once, starts, prints where everything is, and stops on a signal. */

import { dirname, join, resolve } from 'node:path'
import { FileNotWritten, makeFolder, reasonOf } from '@trunkline/files/durable'
import { pino } from 'pino'
import { compose } from './compose.ts'
import { ALL_SETTINGS, type Settings, secretValuesOf, settingsOf } from './config/settings.ts'
import { PinoLog } from './ops/log.ts'
import { watchNpm } from './ops/npm-parent.ts'
import { endLate, endOnUncaught } from './ops/process-policy.ts'
import { startFailure } from './ops/start-failure.ts'
import { StartLog } from './ops/start-log.ts'
import { starting, stopping } from './ops/terminal-lines.ts'
import { noArguments, startUsage } from './ops/usage.ts'
import { welcome } from './ops/welcome.ts'
import { type Preflight, preflight, refusal } from './preflight/index.ts'

const LINGER_MS = 1_000
const started = performance.now()
watchNpm(process.env, () => process.kill(process.pid, 'SIGTERM'))
answerArguments(process.argv.slice(2))
const checked = await preflight(process.env, true)
const settings = settingsOrExit(checked)
const isTerminal = process.stdout.isTTY === true
const log = openLog(settings)
const startLog = new StartLog(log, logPathOf(settings) === null ? null : text => void process.stderr.write(text))
for (const { level, about, message } of checked.findings) if (level === 'warning') startLog.warn(`${about} ${message}`)
if (isTerminal) process.stdout.write(starting(settings))

endOnUncaught(log)

const service = await compose(settings, startLog, process.env).catch(cause => {
  // If the log is on standard output, the reason would be printed twice.
  log[logPathOf(settings) === null ? 'debug' : 'error']('the service did not start', { cause })
  process.stderr.write(`trunkline did not start: ${startFailure(cause)}\n`)
  process.exit(1)
})
startLog.ready()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(signal))
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
  if (isTerminal) process.stdout.write(stopping(settings))
  const patience = setTimeout(() => endLate(log, settings.shutdownSeconds), settings.shutdownSeconds * 1_000)
  await service.stop()
  clearTimeout(patience)
  log.info('stopped')
  if (isTerminal) process.stdout.write('Stopped.\n')
  process.exitCode = 0
  // The other end never closes a silent connection, which would keep the process alive.
  setTimeout(() => process.exit(0), LINGER_MS).unref()
}

function answerArguments(args: readonly string[]): void {
  if (args.length === 0) return
  const wantsHelp = args.includes('--help') || args.includes('-h')
  if (wantsHelp) process.stdout.write(startUsage(ALL_SETTINGS))
  else process.stderr.write(noArguments(args))
  process.exit(wantsHelp ? 0 : 2)
}

function settingsOrExit({ findings, isMisset }: Preflight): Settings {
  if (findings.every(({ level }) => level !== 'fault')) return settingsOf(process.env)
  process.stderr.write(refusal(findings))
  process.exit(isMisset ? 2 : 1)
}

/** On a terminal the first page stays readable: the log goes to a file beside the data. */
function openLog(settings: Settings): PinoLog {
  const secrets = secretValuesOf(settings)
  const path = logPathOf(settings)
  if (path === null) return new PinoLog(settings.logLevel, undefined, secrets)
  try {
    // Written at once, so that the last messages before an exit are not lost.
    makeFolder(dirname(path))
    const destination = pino.destination({ dest: path, mode: 0o600, sync: true })
    destination.on('error', cause => process.stderr.write(`the log ${path} cannot be written: ${reasonOf(cause)}\n`))
    return new PinoLog(settings.logLevel, destination, secrets)
  } catch (cause) {
    const setting =
      settings.logFile === null ? 'TRUNKLINE_DATA_DIR says where data and the log lie' : 'TRUNKLINE_LOG_FILE says where it lies'
    const why = cause instanceof FileNotWritten ? cause.message : reasonOf(cause)
    process.stderr.write(`trunkline did not start: the log ${path} cannot be written: ${why} ${setting}.\n`)
    process.exit(1)
  }
}

function logPathOf({ logFile, dataDir }: Settings): string | null {
  return logFile ?? (isTerminal ? join(resolve(dataDir), 'trunkline.log') : null)
}
