/**
 * The test sandbox: implements the part of the sandbox's API that the adapter needs to follow accounts, and publishes as many updates as
 * requested. It neither matches orders nor has prices, so that its cost is small compared with what is measured.
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
