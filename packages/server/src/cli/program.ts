/** The tree of commands. A command loads what it needs when it runs, so that help is there at once. */
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { type ChainHead, OVERLAP_SECONDS_MAX, parseChainHead, setName } from '../admin/operations.ts'
import { parseClientTime } from '../wire/client-time.ts'
import { CommandFailed, type Console } from './console.ts'
import { explain } from './explain.ts'

/** Runs one command and gives its exit code: 0 done, 1 refused or failed, 2 not understood or wrongly set. Never throws. */
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
  'run a command with the same variables, and as the same user.\n\nWhile a service runs on the data directory it does the work,',
  'asked through a socket that only its user can open. Otherwise the command opens the database itself.'
].join(' ')

function programFor(console: Console): Command {
  const program = new Command('npm run cli --')
    .description(ABOUT)
    .usage('<command>')
    .exitOverride()
    .configureOutput({ writeOut: text => console.out(text), writeErr: text => console.err(text) })
    .showHelpAfterError('(add --help to see what it takes)')
    .addHelpText('after', EXAMPLES)
  addCheckConfig(program, console)
  addPlatforms(program.command('platform').description('platforms: the applications that call the API'), console)
  addUsers(program.command('user').description('users of platforms'), console)
  addKeys(program.command('keys').description('master keys, under which broker credentials are sealed'), console)
  addOrders(
    program.command('orders').description('orders whose outcome is unknown, and how to end one that never reached the broker'),
    console
  )
  addDatabase(program.command('database').description('the PostgreSQL that TRUNKLINE_DATABASE_URL names'), console)
  addAudit(program.command('audit').description('the tamper-evident log of connects, credentials, orders and operators'), console)
  addDocs(program, console)
  return program
}

const EXAMPLES = `
Examples:
  npm run cli -- check-config
  npm run cli -- platform create --name "My app" --claim on --redirect https://app.example.com/linked
  npm run cli -- platform rotate-secret pk_…
  npm run cli -- keys rotate
  npm run cli -- orders unresolved
  npm run cli -- audit verify`

const json = () => new Option('--json', 'answer in JSON')

function addCheckConfig(program: Command, console: Console): void {
  program
    .command('check-config')
    .description('check every setting and what it relies on: keys, data directory, ports, database. Lists all faults at once')
    .addOption(json())
    .action(async options => (await import('./check-config.ts')).checkConfig(console, options))
}

const CLAIM = `
--claim has no default, because it decides who can be tricked:
  on   A new connection does nothing until the platform confirms it: POST /connections/{connection_id}/claim with the claim_code
       of the redirect, as the user whose session received it. A link that was sent to someone else then connects no one:
       unclaimed logins are revoked after ten minutes. The platform has to make that one call.
  off  A connection works as soon as the login is done, as the specification has it. If one user sends their link to someone
       who finishes it, that user’s account is connected to the sender, who can read it and trade in it. All that warns
       the user is the page, which names the platform and the user.
`

const COLOR = 'its colour in the portal; letters on it are black or white, and it is darkened or brightened where it would not stand out'
const APP_URL = 'where the portal sends users back to when a link leads nowhere else'

function addPlatforms(group: Command, console: Console): void {
  group
    .command('create')
    .description('create a platform; its secret is shown once')
    .requiredOption('--name <name>', 'its display name; users see it when they connect')
    .option('--redirect <url...>', 'allow only these redirect addresses, compared character for character (repeatable; none: any)', [])
    .addOption(
      new Option('--claim <on|off>', 'whether it confirms each new connection with its user’s own credentials; see below')
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
    .description('change what users see of a platform in the portal; what is not named stays')
    .argument('<platform>', 'its client_id or platform_id')
    .option('--name <name>', 'its display name')
    .option('--color <#rrggbb>', `${COLOR}; none: the portal’s own`)
    .option('--app-url <address>', `${APP_URL}; none: no address`)
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).editPlatform(console, platform, options))
  group
    .command('list')
    .description('list the platforms')
    .addOption(json())
    .action(async options => (await import('./platform.ts')).listPlatforms(console, options))
  group
    .command('rotate-secret')
    .description('give a key a new secret, shown once; the old one stays good for a day, or as long as --overlap says')
    .argument('<client_id>', 'of the key; a platform_id means its first key')
    .option('--overlap <time>', 'how long the old secret stays good: 0, 30m, 24h, 7d', overlapSeconds, 24 * 3_600)
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).rotateSecret(console, platform, options))
  group
    .command('disable')
    .description('keep a platform out at once: every key, every token and open link of its users, every session')
    .argument('<platform>', 'its client_id or platform_id')
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).disablePlatform(console, platform, options))
  group
    .command('enable')
    .description('let a disabled platform in again')
    .argument('<platform>', 'its client_id or platform_id')
    .addOption(json())
    .action(async (platform, options) => (await import('./platform.ts')).enablePlatform(console, platform, options))
  addRedirects(group.command('redirects').description('the addresses that users may be sent back to'), console)
  addPlatformKeys(group.command('key').description('further keys of a platform, each with what it may be used for'), console)
}

function addRedirects(group: Command, console: Console): void {
  const about = {
    list: 'list them',
    add: 'allow one more',
    remove: 'allow one no longer; the last one stays, because with none any is taken'
  }
  for (const verb of ['list', 'add', 'remove'] as const) {
    const command = group.command(verb).description(about[verb]).argument('<platform>', 'its client_id or platform_id').addOption(json())
    if (verb === 'list')
      command.action(async (platform, options) => (await import('./platform.ts')).editRedirects(console, platform, options))
    else
      command
        .argument('<address...>', 'compared character for character')
        .action(async (platform, addresses, options) =>
          (await import('./platform.ts')).editRedirects(console, platform, { ...options, [verb]: addresses })
        )
  }
}

function addPlatformKeys(group: Command, console: Console): void {
  group
    .command('create')
    .description('make a key; its secret is shown once')
    .argument('<platform>', 'its client_id or platform_id')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scope <scope...>', 'read, trade, users (repeatable); none of them implies another')
    .option('--address <network...>', 'allow it from these addresses or networks only, such as 192.0.2.0/24 (repeatable; none: any)', [])
    .option('--expires <time>', 'when it ends, with seconds and an offset, such as 2027-01-01T00:00:00Z', time)
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
    .description('keep a key out at once, with the tokens that were had with it')
    .argument('<client_id>', 'of the key')
    .addOption(json())
    .action(async (key, options) => (await import('./platform-keys.ts')).disableKey(console, key, options))
  group
    .command('enable')
    .description('let a disabled key in again')
    .argument('<client_id>', 'of the key')
    .addOption(json())
    .action(async (key, options) => (await import('./platform-keys.ts')).enableKey(console, key, options))
  group
    .command('revoke')
    .description('end a key for good')
    .argument('<client_id>', 'of the key')
    .addOption(json())
    .action(async (key, options) => (await import('./platform-keys.ts')).revokeKey(console, key, options))
}

function addUsers(group: Command, console: Console): void {
  group
    .command('disable')
    .description('keep a user out at once: tokens, open links, sessions. Connections and records stay')
    .argument('<platform>', 'the platform’s client_id or platform_id')
    .argument('<user_id>', 'as the platform calls the user')
    .addOption(json())
    .action(async (platform, userId, options) => (await import('./user.ts')).disableUser(console, platform, userId, options))
  group
    .command('enable')
    .description('let a disabled user in again')
    .argument('<platform>', 'the platform’s client_id or platform_id')
    .argument('<user_id>', 'as the platform calls the user')
    .addOption(json())
    .action(async (platform, userId, options) => (await import('./user.ts')).enableUser(console, platform, userId, options))
}

function addKeys(group: Command, console: Console): void {
  group
    .command('rotate')
    .description('add a fresh master key and re-wrap everything with it, while the service runs. Interrupted, run it again')
    .option('--retire', 'add no key: finish re-wrapping, then drop the old keys if logins in flight cannot need them any more')
    .option('--now', 'with --retire: drop them although logins in flight may still need them (those users have to begin again)')
    .addOption(json())
    .action(async options => (await import('./keys.ts')).rotateKeys(console, options))
  group
    .command('status')
    .description('which keys there are, and how many stored credentials need each')
    .addOption(json())
    .action(async options => (await import('./keys.ts')).keysStatus(console, options))
  group
    .command('generate')
    .description('print a fresh key for TRUNKLINE_MASTER_KEYS, for installations that keep keys in the environment')
    .option('--instance', 'print the instance key that is in force instead, to keep it when the oldest master key goes')
    .action(async options => (await import('./keys.ts')).generateKey(console, options))
}

function addOrders(group: Command, console: Console): void {
  group
    .command('unresolved')
    .description(
      'list open orders that the broker is not known to have, the oldest first, and those of removed connections of unknown outcome'
    )
    .option('--limit <number>', 'how many', wholeNumber, 50)
    .addOption(json())
    .action(async options => (await import('./orders.ts')).listUnresolved(console, options))
  group
    .command('never-received')
    .description('end such an order, because the broker never received it. The broker is asked first, and must show none that may be it')
    .argument('<order_id>', 'as the API gives it')
    .requiredOption('--because <text>', 'how you know; written to the audit log')
    .option('--unseen', 'do not ask the broker: it does not answer, and you have checked the account by other means')
    .addOption(json())
    .action(async (orderId, options) => (await import('./orders.ts')).neverReceived(console, orderId, options))
  group
    .command('never-received-all')
    .description('the same for all such orders of a set, with one audit entry. Without --end it lists what it would end')
    .option('--broker <id>', 'of this broker')
    .option('--connection <connection_id>', 'of this connection')
    .option('--older-than <hours>', 'placed longer ago than this', wholeNumber)
    .requiredOption('--because <text>', 'how you know; written to the audit log')
    .option('--unseen', 'do not ask the brokers: they do not answer, and you have checked the accounts by other means')
    .option('--end <set>', 'end them, if they are those of the set that was shown', setOption)
    .addOption(json())
    .action(async options => (await import('./orders.ts')).neverReceivedAll(console, options))
}

function addDatabase(group: Command, console: Console): void {
  group
    .command('migrate')
    .description('bring the schema up to date as TRUNKLINE_DATABASE_OWNER_URL, and grant the service’s role what it needs and no more')
    .addOption(json())
    .action(async options => (await import('./database.ts')).migrateDatabase(console, options))
}

function addAudit(group: Command, console: Console): void {
  group
    .command('verify')
    .description('walk the whole chain; name the first entry that was altered, moved or removed')
    .option('--kept <position:hash>', 'an end of the chain that was noted earlier; the chain must still go through it', expectedHead)
    .addOption(json())
    .action(async options => (await import('./audit.ts')).verifyAudit(console, options))
  group
    .command('export')
    .description('write the chain to standard output as JSON lines, which verify-export checks without the service')
    .option('--from <time>', 'begin with the first entry at or after this time, such as 2027-01-01T00:00:00Z', time)
    .option('--to <time>', 'end before the first entry that is later, written alike', time)
    .addOption(new Option('--format <format>', 'how').choices(['jsonl']).default('jsonl'))
    .action(async options => (await import('./audit-export.ts')).exportAudit(console, options))
  group
    .command('verify-export')
    .description('check an exported file; name the first entry that was altered or removed')
    .argument('<file>', 'as audit export wrote it')
    .option('--compare', 'with the service’s own audit log (or its database’s, where no service runs)')
    .option('--follows <file>', 'the export before it, which it must continue without a gap')
    .option('--kept <position:hash>', 'an end of the chain that was noted earlier, which the file must go through', expectedHead)
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
    .option('--out <folder>', 'where to', 'docs')
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
  throw new InvalidArgumentError('It must be a time such as 0, 30m, 24h or 7d, and at most 30d.')
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
