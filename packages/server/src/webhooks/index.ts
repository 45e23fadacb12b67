// Webhooks: a sender for each node, which takes what it sends from the log.
import { lookup } from 'node:dns/promises'
import type { Settings } from '../config/settings.ts'
import type { Parts } from '../ops/parts.ts'
import { HttpExchange } from './exchange.ts'
import { PublicAddresses } from './public-addresses.ts'
import { type SenderDeps, WebhookSender } from './sender.ts'

export interface WebhooksDeps extends Omit<SenderDeps, 'webhooks' | 'exchange'> {
  readonly store: SenderDeps['store'] & { readonly webhooks: SenderDeps['webhooks'] }
}

/** Starts the sender of this node. It never fails to start: what the store cannot say now is read again later. */
export async function startWebhooks(
  { webhookNetworks }: Pick<Settings, 'webhookNetworks'>,
  deps: WebhooksDeps,
  parts: Pick<Parts, 'add'>
): Promise<WebhookSender> {
  const addresses = new PublicAddresses(webhookNetworks)
  const exchange = new HttpExchange({ clock: deps.clock, addresses, resolve: name => lookup(name, { all: true }) })
  const sender = new WebhookSender({ ...deps, webhooks: deps.store.webhooks, exchange: exchange.send })
  parts.add('webhooks', async () => {
    await sender.stop()
    exchange[Symbol.dispose]()
  })
  await sender.start()
  return sender
}
