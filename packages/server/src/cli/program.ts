/** The tree of commands. Each loads its module only when it runs, so that help appears without delay. */
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { type ChainHead, OVERLAP_SECONDS_MAX, parseChainHead, setName } from '../admin/operations.ts'
import { parseClientTime } from '../wire/client-time.ts'
import { CommandFailed, type Console } from './console.ts'
import { explain } from './explain.ts'
import { addOperators } from './operator-commands.ts'
import { addWebhooks } from './webhook-commands.ts'

/** Runs one command and returns its exit code: 0 success, 1 refused or failed, 2 invalid arguments or settings. Never throws. */
export async function runCli(args: readonly string[], console: Console): Promise<number> {
  try {
    await programFor(console).parseAsync([...args], { from: 'user' })
    return 0
  } catch (cause) {
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2
    if (cause instanceof CommandFailed) {
      if (cause.message !== '') console.err(`${cause.message}\n`)
      return cause.exitCode
    }
    console.err(`${explain(cause)}\n`)
    return 1
  }
}

const ABOUT = [
  'Operates a Trunkline service. Settings come from the environment, as for the service itself (docs/settings.md):',
  'run commands with the same variables and as the same user.\n\nIf a service runs on the data directory, it executes the command,',
  'which it receives through a socket that only its user can open. Otherwise the command opens the database itself.'
].join(' ')

function programFor(console: Console): Command {
  const program = new Command('npm run cli --')
    .description(ABOUT)
    .usage('<command>')
    .exitOverride()
    .configureOutput({ writeOut: text => console.out(text), writeErr: text => console.err(text) })
    .showHelpAfterError('(add --help for usage)')
    .addHelpText('after', EXAMPLES)
  addCheckConfig(program, console)
  addPlatforms(program.command('platform').description('manage platforms, the applications that call the API'), console)
  addUsers(program.command('user').description('disable and enable users of platforms'), console)
  addWebhooks(program.command('webhook').description('manage the webhook endpoints of platforms'), console)
  addKeys(program.command('keys').description('manage the master keys that encrypt broker credentials'), console)
  addOperators(program.command('operator').description('log operators in to the API for operators, and manage their keys'), console, time)
  addOrders(program.command('orders').description('list orders of unknown outcome, and end those that never reached the broker'), console)
  addDatabase(program.command('database').description('migrate the PostgreSQL database that TRUNKLINE_DATABASE_URL names'), console)
  addCluster(program.command('cluster').description('list the nodes of a cluster, and drain one of them'), console)
  addAudit(
    program.command('audit').description('verify, export and list the tamper-evident log of logins, credentials, orders and operators'),
    console
  )
  addDocs(program, console)
  return program
}

const EXAMPLES = `
Examples:
  npm run cli -- check-config
  npm run cli -- platform create --name "My app" --claim on --redirect https://app.example.com/linked
  npm run cli -- platform rotate-secret pk_…
  npm run cli -- webhook list --platform pk_…
  npm run cli -- keys rotate
  npm run cli -- operator link
  npm run cli -- orders unresolved
  npm run cli -- cluster nodes
  npm run cli -- audit verify`

const json = () => new Option('--json', 'print JSON')

function addCheckConfig(program: Command, console: Console): void {
  program
    .command('check-config')
    .description('check every setting and what it depends on: keys, data directory, ports, database. Lists all faults at once')
    .addOption(json())
    .action(async options => (await import('./check-config.ts')).checkConfig(console, options))
}

const CLAIM = `
--claim has no default, because it decides whether users can be tricked into connecting their account to someone else:
  on   A new connection cannot be used until the platform claims it: POST /connections/{connection_id}/claim with the claim_code
       from the redirect, as the user whose browser session received it. If a user sends their link to someone else, nothing is
       connected: unclaimed logins are revoked after ten minutes. The platform must make this one additional call.
  off  A connection works as soon as the login is complete, as in the specification. If a user sends their link to someone else
       who completes the login, that person’s account is connected to the sender, who can read it and trade in it. The only
       warning is the consent page, which names the platform and the user.
`

const COLOR = 'its colour in the portal; text on it is black or white, and the colour is adjusted where it would lack contrast'
const APP_URL = 'where the portal sends users when there is no redirect address'

function addPlatforms(group: Command, console: Console): void {
  group
    .command('create')
    .description('create a platform; its secret is shown once')
    .requiredOption('--name <name>', 'its display name, which users see when they connect')
    .option('--redirect <url...>', 'allow only these redirect addresses, compared exactly (repeatable; default: any address)', [])
    .addOption(
      new Option('--claim <on|off>', 'whether it must claim each new connection with the user’s credentials; see below')
        .choices(['on', 'off'])
        .makeOptionMandatory()
    )
    .option('--color <#rrggbb>', COLOR)
    .option('--app-url <address>', APP_URL)
    .addOption(json())
    .addHelpText('after', CLAIM)
    .action(async options => (await import('./platform.ts')).createPlatform(console, options))
  group
    .command('edit')
    .description('change how the portal shows a platform; options that are absent stay unchanged')
    .argument('<platform>', 'its client_id or platform_id')
    .option('--name <name>', 'its display name')
    .option('--color <#rrggbb>', `${COLOR}; "none" for the portal’s default`)
    .option('--app-url <address>', `${APP_URL}; "none" to remove it`)
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).editPlatform(console, platform, options))
  group
    .command('list')
    .description('list the platforms')
    .addOption(json())
    .action(async options => (await import('./platform.ts')).listPlatforms(console, options))
  group
    .command('rotate-secret')
    .description('give a key a new secret, shown once; the old one works for another day, or as --overlap says')
    .argument('<client_id>', 'of the key; a platform_id stands for its first key')
    .option('--overlap <time>', 'how long the old secret still works: 0, 30m, 24h, 7d', overlapSeconds, 24 * 3_600)
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).rotateSecret(console, platform, options))
  group
    .command('disable')
    .description('lock out a platform at once: all its keys and sessions, and all tokens and open links of its users')
    .argument('<platform>', 'its client_id or platform_id')
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).disablePlatform(console, platform, options))
  group
    .command('enable')
    .description('enable a disabled platform again')
    .argument('<platform>', 'its client_id or platform_id')
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).enablePlatform(console, platform, options))
  addRedirects(group.command('redirects').description('manage the addresses that users may be redirected to'), console)
  addPlatformKeys(group.command('key').description('manage additional keys of a platform, each with its scopes'), console)
}

function addRedirects(group: Command, console: Console): void {
  const about = {
    list: 'list the redirect addresses',
    add: 'add redirect addresses',
    remove: 'remove redirect addresses; the last one cannot be removed, because an empty list allows any address'
  }
  for (const verb of ['list', 'add', 'remove'] as const) {
    const command = group.command(verb).description(about[verb]).argument('<platform>', 'its client_id or platform_id').addOption(json())
    if (verb === 'list')
      command.action(async (platform, options) => (await import('./platform.ts')).editRedirects(console, platform, options))
    else
      command
        .argument('<address...>', 'compared exactly')
        .action(async (platform, addresses, options) =>
          (await import('./platform.ts')).editRedirects(console, platform, { ...options, [verb]: addresses })
        )
  }
}

function addPlatformKeys(group: Command, console: Console): void {
  group
    .command('create')
    .description('create a key; its secret is shown once')
    .argument('<platform>', 'its client_id or platform_id')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scope <scope...>', 'read, trade, users (repeatable); no scope implies another')
    .option('--address <network...>', 'allow it only from these addresses or networks, such as 192.0.2.0/24 (repeatable; default: any)', [])
    .option('--expires <time>', 'when it expires, with seconds and an offset, such as 2027-01-01T00:00:00Z', time)
    .addOption(json())
    .action(async (platform, options) => (await import('./platform-keys.ts')).createKey(console, platform, options))
  group
    .command('list')
    .description('list a platform’s keys, and when each was last used')
    .argument('<platform>', 'its client_id or platform_id')
    .addOption(json())
    .action(async (platform, options) => (await import('./platform-keys.ts')).listKeys(console, platform, options))
  group
    .command('disable')
    .description('disable a key at once, and delete the tokens issued with it')
    .argument('<client_id>', 'of the key')
    .addOption(json())
    .action(async (key, options) => (await import('./platform-keys.ts')).disableKey(console, key, options))
  group
    .command('enable')
    .description('enable a disabled key again')
    .argument('<client_id>', 'of the key')
    .addOption(json())
    .action(async (key, options) => (await import('./platform-keys.ts')).enableKey(console, key, options))
  group
    .command('revoke')
    .description('revoke a key permanently')
    .argument('<client_id>', 'of the key')
    .addOption(json())
    .action(async (key, options) => (await import('./platform-keys.ts')).revokeKey(console, key, options))
}

function addUsers(group: Command, console: Console): void {
  group
    .command('disable')
    .description('lock out a user at once: tokens, open links, sessions. Connections and records stay')
    .argument('<platform>', 'the platform’s client_id or platform_id')
    .argument('<user_id>', 'as the platform calls the user')
    .addOption(json())
    .action(async (platform, userId, options) => (await import('./user.ts')).disableUser(console, platform, userId, options))
  group
    .command('enable')
    .description('enable a disabled user again')
    .argument('<platform>', 'the platform’s client_id or platform_id')
    .argument('<user_id>', 'as the platform calls the user')
    .addOption(json())
    .action(async (platform, userId, options) => (await import('./user.ts')).enableUser(console, platform, userId, options))
}

function addKeys(group: Command, console: Console): void {
  group
    .command('rotate')
    .description('add a new master key and re-wrap all credentials with it, while the service runs. If interrupted, run it again')
    .option('--retire', 'add no key: finish re-wrapping, then remove the old keys once no login in progress can need them')
    .option('--now', 'with --retire: remove the old keys even if logins in progress need them (those users must start again)')
    .addOption(json())
    .action(async options => (await import('./keys.ts')).rotateKeys(console, options))
  group
    .command('status')
    .description('list the keys, and how many stored credentials need each')
    .addOption(json())
    .action(async options => (await import('./keys.ts')).keysStatus(console, options))
  group
    .command('generate')
    .description('print a new key for TRUNKLINE_MASTER_KEYS, for installations with keys in the environment')
    .option('--instance', 'print the current instance key instead, to keep it when the oldest master key is removed')
    .action(async options => (await import('./keys.ts')).generateKey(console, options))
}

function addOrders(group: Command, console: Console): void {
  group
    .command('unresolved')
    .description(
      'list open orders that may never have reached the broker, oldest first, and orders of unknown outcome on removed connections'
    )
    .option('--limit <number>', 'how many', wholeNumber, 50)
    .addOption(json())
    .action(async options => (await import('./orders.ts')).listUnresolved(console, options))
  group
    .command('never-received')
    .description(
      'end an unresolved order that the broker never received. The broker is asked first, and must show no order that could be it'
    )
    .argument('<order_id>', 'as in the API')
    .requiredOption('--because <text>', 'how you know; written to the audit log')
    .option('--unseen', 'do not ask the broker, because it does not respond and you checked the account by other means')
    .addOption(json())
    .action(async (orderId, options) => (await import('./orders.ts')).neverReceived(console, orderId, options))
  group
    .command('never-received-all')
    .description('the same for a set of orders, with one audit entry. Without --end it only lists the orders that it would end')
    .option('--broker <id>', 'only orders at this broker')
    .option('--connection <connection_id>', 'only orders of this connection')
    .option('--older-than <hours>', 'only orders placed longer ago than this', wholeNumber)
    .requiredOption('--because <text>', 'how you know; written to the audit log')
    .option('--unseen', 'do not ask the brokers, because they do not respond and you checked the accounts by other means')
    .option('--end <set>', 'end the orders, if they are still exactly the set that was listed', setOption)
    .addOption(json())
    .action(async options => (await import('./orders.ts')).neverReceivedAll(console, options))
}

function addDatabase(group: Command, console: Console): void {
  group
    .command('migrate')
    .description('migrate the schema as TRUNKLINE_DATABASE_OWNER_URL, and grant the service’s role the privileges it needs, and no others')
    .addOption(json())
    .action(async options => (await import('./database.ts')).migrateDatabase(console, options))
}

function addCluster(group: Command, console: Console): void {
  group
    .command('nodes')
    .description('list the nodes with their leases and partitions')
    .addOption(json())
    .action(async options => (await import('./cluster.ts')).listNodes(console, options))
  group
    .command('drain')
    .description('move all users of a node to the others, before it is stopped; it takes none until it is started again')
    .argument('<node_id>', 'as listed by cluster nodes')
    .addOption(json())
    .action(async (node, options) => (await import('./cluster.ts')).drainNode(console, node, options))
}

function addAudit(group: Command, console: Console): void {
  group
    .command('verify')
    .description('verify the whole chain; report the first entry that was altered, moved or removed')
    .option('--kept <position:hash>', 'a chain head noted earlier, which the chain must still contain', expectedHead)
    .addOption(json())
    .action(async options => (await import('./audit.ts')).verifyAudit(console, options))
  group
    .command('export')
    .description('write the chain to standard output as JSON lines, which verify-export checks without the service')
    .option('--from <time>', 'start with the first entry at or after this time, such as 2027-01-01T00:00:00Z', time)
    .option('--to <time>', 'stop before the first entry later than this time, in the same format', time)
    .addOption(new Option('--format <format>', 'output format').choices(['jsonl']).default('jsonl'))
    .action(async options => (await import('./audit-export.ts')).exportAudit(console, options))
  group
    .command('verify-export')
    .description('verify an exported file; report the first entry that was altered or removed')
    .argument('<file>', 'as written by audit export')
    .option('--compare', 'compare it with the service’s audit log (or its database’s, if no service runs)')
    .option('--follows <file>', 'the previous export, which it must continue without a gap')
    .option('--kept <position:hash>', 'a chain head noted earlier, which the file must contain', expectedHead)
    .addOption(json())
    .action(async (file, options) => (await import('./audit-export.ts')).verifyExport(console, file, options))
  group
    .command('list')
    .description('show the newest entries')
    .option('--limit <number>', 'how many', wholeNumber, 50)
    .addOption(json())
    .action(async options => (await import('./audit.ts')).listAudit(console, options))
}

function addDocs(program: Command, console: Console): void {
  program
    .command('docs')
    .description('write the generated pages: settings.md and brokers/*.md')
    .option('--out <folder>', 'target folder', 'docs')
    .action(async options => (await import('./docs.ts')).writeDocs(console, options))
}

function expectedHead(text: string): ChainHead {
  try {
    return parseChainHead(text)
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : 'not understood')
  }
}

function time(text: string): Timestamp {
  try {
    return parseClientTime(text, 'the time')
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : 'not understood')
  }
}

function overlapSeconds(text: string): number {
  const [, number, unit = 's'] = /^(\d{1,7})([smhd]?)$/.exec(text) ?? []
  const seconds = Number(number) * ({ s: 1, m: 60, h: 3_600, d: 86_400 }[unit] ?? 1)
  if (number !== undefined && seconds <= OVERLAP_SECONDS_MAX) return seconds
  throw new InvalidArgumentError('It must be a duration such as 0, 30m, 24h or 7d, at most 30d.')
}

function setOption(text: string): string {
  try {
    return setName(text)
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : String(cause))
  }
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1 to 9999.')
}
