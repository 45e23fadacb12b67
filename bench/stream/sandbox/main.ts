/**
 * The test sandbox: implements as much of the sandbox's API as the adapter needs to follow accounts, and then publishes as many updates as requested. It
 * matches no orders and knows no prices, so that what it costs is small beside what is measured.
 */

import { createServer } from 'node:http'
import { answering } from '../../harness/workers.ts'
import { sandboxNow } from './clock.ts'
import type { SandboxRequests } from './requests.ts'
import { Rest } from './rest.ts'
import { SandboxState } from './state.ts'
import { Streams } from './streams.ts'
import { UpdateFeed } from './update-feed.ts'

interface Parts {
  readonly streams: Streams
  readonly feed: UpdateFeed
}

let sandbox: Parts | null = null

answering<SandboxRequests>({
  async open(shape) {
    let url = ''
    const state = new SandboxState(shape, sandboxNow)
    const streams = new Streams(state, count => sandbox?.feed.saw(count))
    const rest = new Rest(state, () => `${url}/oauth`)
    const server = createServer(async (request, response) => {
      const { status, headers, body } = await rest.answer(request)
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
    })
    server.on('upgrade', (request, socket, head) => streams.server.handleUpgrade(request, socket, head, ws => streams.attend(ws)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
    sandbox = { streams, feed: new UpdateFeed(state, streams) }
    return { url }
  },
  streams: () => sandbox?.streams.open ?? 0,
  async feed(plan) {
    if (sandbox === null) throw new Error('the sandbox is not open yet')
    return sandbox.feed.run(plan)
  }
})
