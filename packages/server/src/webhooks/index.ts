// Webhooks: a sender for each node, which takes what it sends from the log, and what platforms ask of it.
import type { WebhookPorts } from '@trunkline/core/ports/webhook-requests'
import type { Settings } from '../config/settings.ts'
import type { Parts } from '../ops/parts.ts'
import { HttpExchange } from './exchange.ts'
import { HostsFile, readHosts } from './hosts-file.ts'
import { VaultKeyring } from './keyring.ts'
import { hasIpv4, Names, newResolver } from './names.ts'
import { PublicAddresses } from './public-addresses.ts'
import { type RequestsDeps, SentOnRequest } from './requests.ts'
import { type SenderDeps, WebhookSender } from './sender.ts'
import { parseWebhookUrl } from './webhook-url.ts'

export interface WebhooksDeps
  extends Omit<SenderDeps, 'webhooks' | 'exchange' | 'store'>,
    Omit<RequestsDeps, 'exchange' | 'clock' | 'ids' | 'store'> {
  readonly store: SenderDeps['store'] & { readonly webhooks: SenderDeps['webhooks'] } & RequestsDeps['store']
}

export interface Webhooks {
  /** For the use cases. */
  readonly ports: WebhookPorts
  readonly sender: WebhookSender
  /** Begins to send. It never fails: what the store cannot say now is read again later. */
  start(): Promise<void>
}

/** The webhooks of this node. Nothing is sent by itself before `start`. */
export function buildWebhooks(
  { webhookNetworks }: Pick<Settings, 'webhookNetworks'>,
  deps: WebhooksDeps,
  parts: Pick<Parts, 'add'>
): Webhooks {
  const addresses = new PublicAddresses(webhookNetworks)
  const { clock } = deps
  const names = new Names({ clock, hosts: new HostsFile({ clock, read: readHosts }), resolver: newResolver, hasIpv4 })
  const exchange = new HttpExchange({ clock, addresses, resolve: names.resolve })
  const sender = new WebhookSender({ ...deps, webhooks: deps.store.webhooks, exchange: exchange.send })
  const requests = new SentOnRequest({ ...deps, exchange: exchange.send })
  const urls = { judge: (url: string) => parseWebhookUrl(url, addresses).href }
  return {
    ports: { keyring: new VaultKeyring(() => deps.vault), urls, requests },
    sender,
    start: async () => {
      parts.add('webhooks', async () => {
        await Promise.all([sender.stop(), requests.stop()])
        exchange[Symbol.dispose]()
      })
      await sender.start()
    }
  }
}
