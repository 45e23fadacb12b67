// The commands that log operators in and manage their keys.
import { OPERATOR_SCOPES } from '@trunkline/core/domain/operator'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { type Command, Option } from 'commander'
import type { Console } from './console.ts'

const SCOPES = `${OPERATOR_SCOPES.join(', ')} (repeatable); no scope implies another`

/** @param time parses an option that is a time */
export function addOperators(group: Command, console: Console, time: (text: string) => Timestamp): void {
  const json = () => new Option('--json', 'print JSON')
  group
    .command('link')
    .description('print a link to the console, which logs in once, within ten minutes')
    .option('--scope <scope...>', SCOPES, [...OPERATOR_SCOPES])
    .addOption(json())
    .action(async options => (await import('./operators.ts')).linkOperator(console, options))
  group
    .command('sessions')
    .description('list the operators who are logged in')
    .addOption(json())
    .action(async options => (await import('./operators.ts')).listSessions(console, options))
  group
    .command('end-session')
    .description('log an operator out at once')
    .argument('<session_id>', 'as listed by operator sessions')
    .addOption(json())
    .action(async (id, options) => (await import('./operators.ts')).endSession(console, id, options))
  const key = group.command('key').description('manage keys for programs of operators')
  key
    .command('create')
    .description('create a key, which is shown once')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scope <scope...>', SCOPES)
    .option('--expires <time>', 'when it expires, with seconds and an offset, such as 2027-01-01T00:00:00Z', time)
    .addOption(json())
    .action(async options => (await import('./operators.ts')).createKey(console, options))
  key
    .command('list')
    .description('list the keys, and when each was last used')
    .addOption(json())
    .action(async options => (await import('./operators.ts')).listKeys(console, options))
  key
    .command('revoke')
    .description('revoke a key at once')
    .argument('<key_id>', 'as listed by operator key list')
    .addOption(json())
    .action(async (id, options) => (await import('./operators.ts')).revokeKey(console, id, options))
}
