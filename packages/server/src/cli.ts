/** The operator's command line as a program. */
import { runCli } from './cli/program.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort(new Error('interrupted')))

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  signal: interrupted.signal,
  isTerminal: process.stderr.isTTY === true,
  out: text => process.stdout.write(text),
  err: text => process.stderr.write(text)
})
