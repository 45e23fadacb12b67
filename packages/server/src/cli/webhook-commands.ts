// The commands on webhook endpoints, with their arguments.
import { ORDER_STATUSES } from '@trunkline/core/domain/vocabulary'
import { EVENT_TOPICS } from '@trunkline/core/domain/webhook'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { DELIVERIES_LIMIT_MAX, OVERLAP_HOURS_MAX } from '../admin/webhook-operations.ts'
import type { Console } from './console.ts'

const OVERLAP_HOURS = 24
const DELIVERIES = 50

export function addWebhooks(group: Command, console: Console): void {
  /** A command on the endpoints of a platform. */
  const command = (name: string, description: string) =>
    group
      .command(name)
      .description(description)
      .requiredOption('--platform <platform>', 'the platform’s client_id or platform_id')
      .addOption(new Option('--json', 'print JSON'))
  const ofEndpoint = (name: string, description: string) =>
    command(name, description).argument('<endpoint_id>', 'as listed by webhook list')
  command('list', 'list the endpoints of a platform, and how far each is behind').action(async options =>
    (await import('./webhook.ts')).listWebhooks(console, options)
  )
  command('create', 'create an endpoint; its secret is shown once')
    .requiredOption('--url <url>', 'where updates are posted: https, to a public address')
    .option('--description <text>', 'what it is for', '')
    .addOption(new Option('--topic <topic...>', 'send only these (repeatable; default: all)').choices(EVENT_TOPICS))
    .addOption(
      new Option('--status <status...>', 'of orders, send only updates with one of these (repeatable; default: all)').choices(
        ORDER_STATUSES
      )
    )
    .action(async options => (await import('./webhook.ts')).createWebhook(console, options))
  ofEndpoint('enable', 'enable an endpoint again: it goes on where it was, and waits for retries end').action(async (id, options) =>
    (await import('./webhook.ts')).enableWebhook(console, id, options)
  )
  ofEndpoint('disable', 'send nothing more to an endpoint').action(async (id, options) =>
    (await import('./webhook.ts')).disableWebhook(console, id, options)
  )
  ofEndpoint('deliveries', 'show the newest attempts')
    .option('--user <user_id>', 'only those with updates of this user')
    .option('--message <message_id>', 'only those of this message')
    .addOption(new Option('--outcome <outcome>', 'only those that ended so').choices(['succeeded', 'failed']))
    .option('--limit <number>', 'how many', upTo(DELIVERIES_LIMIT_MAX), DELIVERIES)
    .action(async (id, options) => (await import('./webhook.ts')).listDeliveries(console, id, options))
  ofEndpoint('replay', 'send a message again, or a user’s updates from one seq to another; the service must run')
    .option('--message <message_id>', 'the message')
    .option('--user <user_id>', 'the user, with --from and --to')
    .option('--from <seq>', 'the first update', upTo(Number.MAX_SAFE_INTEGER))
    .option('--to <seq>', 'the last update', upTo(Number.MAX_SAFE_INTEGER))
    .action(async (id, options) => (await import('./webhook.ts')).replayWebhooks(console, id, options))
  ofEndpoint('rotate', 'give an endpoint new keys; the secret is shown once')
    .option('--overlap <hours>', `how long the old keys sign beside them: 0 to ${OVERLAP_HOURS_MAX}`, hours, OVERLAP_HOURS)
    .action(async (id, options) => (await import('./webhook.ts')).rotateWebhook(console, id, options))
  ofEndpoint('test', 'make one attempt with a test message, and exit with 1 if it fails; the service must run').action(
    async (id, options) => (await import('./webhook.ts')).testWebhook(console, id, options)
  )
}

function upTo(max: number): (text: string) => number {
  return text => {
    const number = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
    if (number >= 1 && number <= max) return number
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`)
  }
}

function hours(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= OVERLAP_HOURS_MAX) return Number(text)
  throw new InvalidArgumentError(`It must be a whole number of hours from 0 to ${OVERLAP_HOURS_MAX}.`)
}
