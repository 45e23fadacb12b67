/** The sandbox brokerage as a program: `npm run sandbox`, or started by the service beside itself. */

import type { Brokerage } from './brokerage/start.ts'
import { startSandbox } from './compose.ts'
import { readConfig, type SandboxConfig, settingsHelp } from './config.ts'

const PARENT_EVERY_MS = 1_000

async function main(): Promise<void> {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(
      `npm run sandbox    the sandbox brokerage by itself, until Ctrl-C. Settings, all from the environment:\n${settingsHelp()}\n`
    )
    return
  }
  const config = readConfig(process.env)
  const brokerage = await startSandbox(config)
  const stop = once(() => brokerage.close())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  watchParent(config, stop)
  announce(config, brokerage)
}

/** One line for anyone who started the program, a page for anyone who reads along. */
function announce(config: SandboxConfig, brokerage: Brokerage): void {
  const ready = {
    event: 'ready',
    url: brokerage.url,
    stream_url: brokerage.streamUrl,
    market_stream_url: brokerage.marketStreamUrl,
    control_url: brokerage.controlUrl,
    client_id: brokerage.clientId,
    ...(config.clientSecret === null ? { client_secret: brokerage.clientSecret } : {}),
    logins: brokerage.logins,
    pid: process.pid
  }
  if (!process.stdout.isTTY) process.stdout.write(`${JSON.stringify(ready)}\n`)
  if (process.stdout.isTTY || process.stderr.isTTY) process.stderr.write(welcome(config, brokerage))
}

function welcome(config: SandboxConfig, brokerage: Brokerage): string {
  const customers = brokerage.logins.map(({ username, password }) => `    ${username.padEnd(10)} ${password}`).join('\n')
  const books = config.dataDir === null ? 'in memory: gone when it stops (SANDBOX_DATA_DIR keeps them)' : `in ${config.dataDir}`
  return `
  The sandbox brokerage is open: a market to practise on, with practice money.

  Address   ${brokerage.url}
  Stream    ${brokerage.streamUrl}
  Market    ${brokerage.marketStreamUrl}
  Control   ${brokerage.controlUrl}   (this machine only: faults, prices, the clock)
  Prices    ${config.market}
  Books     ${books}

  Logins
${customers}

  OAuth client
    ${brokerage.clientId.padEnd(10)} ${config.clientSecret === null ? brokerage.clientSecret : '(the secret you set)'}

  A token without the browser flow, and the accounts it sees:
    TOKEN=$(curl -s -X POST ${brokerage.controlUrl}/logins/${brokerage.logins[0]?.username}/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
    curl -s -H "Authorization: Bearer $TOKEN" ${brokerage.url}/api/v1/accounts

`
}

/** A sandbox nobody uses any more must not linger: it ends with its parent, or with its standard input. */
function watchParent({ parentPid, endWithStdin }: SandboxConfig, stop: () => void): void {
  if (endWithStdin) {
    process.stdin.on('end', stop)
    process.stdin.on('error', stop)
    process.stdin.resume()
  }
  if (parentPid === null) return
  setInterval(() => {
    try {
      process.kill(parentPid, 0)
    } catch {
      stop()
    }
  }, PARENT_EVERY_MS).unref()
}

function once(close: () => Promise<void>): () => void {
  let begun = false
  return () => {
    if (begun) return
    begun = true
    close().then(
      () => process.exit(0),
      error => fail(error)
    )
  }
}

function fail(error: unknown): never {
  process.stderr.write(`The sandbox has stopped: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}

main().catch(fail)
