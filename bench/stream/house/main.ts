/**
 * The talking house: speaks as much of the sandbox's API as the adapter needs to follow accounts, and then talks as much as it is told to. It
 * matches no orders and knows no prices, so that what it costs is small beside what is measured.
 */

import { createServer } from 'node:http'
import { answering } from '../../harness/workers.ts'
import { Books } from './books.ts'
import { houseNow } from './clock.ts'
import type { HouseQuestions } from './questions.ts'
import { Rest } from './rest.ts'
import { Streams } from './streams.ts'
import { Talking } from './talking.ts'

interface House {
  readonly streams: Streams
  readonly talking: Talking
}

let house: House | null = null

answering<HouseQuestions>({
  async open(shape) {
    let url = ''
    const books = new Books(shape, houseNow)
    const streams = new Streams(books, count => house?.talking.saw(count))
    const rest = new Rest(books, () => `${url}/oauth`)
    const server = createServer(async (request, response) => {
      const { status, headers, body } = await rest.answer(request)
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
    })
    server.on('upgrade', (request, socket, head) => streams.server.handleUpgrade(request, socket, head, ws => streams.attend(ws)))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
    house = { streams, talking: new Talking(books, streams) }
    return { url }
  },
  streams: () => house?.streams.open ?? 0,
  async talk(talk) {
    if (house === null) throw new Error('the house is not open yet')
    return house.talking.run(talk)
  }
})
