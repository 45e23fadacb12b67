// One endpoint, one user and one node, and what the endpoint was sent.
import { parseJson } from '@trunkline/core/domain/json'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { RECEIVED, WebhookNode, WebhookWorld } from './webhook-world.ts'

interface Item {
  readonly type: string
  readonly user_id: string
  readonly seq?: number
  readonly from_seq?: number
  readonly to_seq?: number
}

export function itemsOf({ body }: WebhookRequest): readonly Item[] {
  const document = parseJson(Buffer.from(body).toString())
  return isMessage(document) ? document.data : []
}

function isMessage(value: unknown): value is { readonly data: readonly Item[] } {
  return typeof value === 'object' && value !== null && 'data' in value && Array.isArray(value.data)
}

/** By message: the `seq` of each event, or what stands for erased ones. */
export const seqsOf = (request: WebhookRequest) =>
  itemsOf(request).map(({ type, seq, from_seq, to_seq }) => seq ?? `${type} ${from_seq}-${to_seq}`)

/** A world with one node, whose endpoint answers as `answer` decides. */
export async function single(answer: (request: WebhookRequest, at: number) => WebhookOutcome | Promise<WebhookOutcome> = () => RECEIVED) {
  const world = new WebhookWorld()
  const requests: (WebhookRequest & { readonly atMs: number })[] = []
  const begun = world.clock.monotonicMs()
  const node = new WebhookNode(world, async request => {
    requests.push({ ...request, atMs: world.clock.monotonicMs() - begun })
    return await answer(request, requests.length)
  })
  const endpoint = world.addEndpoint('https://hooks.example/')
  const userKey = world.addUser()
  await node.own()
  return { world, node, requests, endpoint, userKey }
}
