// A platform's web site in small: where users are sent back to, with a note of everything they bring.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'

export interface Arrival {
  readonly url: URL
  readonly headers: IncomingHttpHeaders
}

export interface Site extends AsyncDisposable {
  readonly origin: string
  /** Where a page that says "Back at the platform" is. */
  readonly linked: string
  readonly failed: string
  /** Leads on to another origin, as sites do that have moved to their `www`. */
  readonly moved: string
  readonly arrivals: readonly Arrival[]
  /** Further pages, by their path. Who opens one is not noted. */
  readonly pages: Map<string, string>
}

export async function openSite(): Promise<Site> {
  const arrivals: Arrival[] = []
  const pages = new Map<string, string>()
  const server = createServer(({ url = '/', headers }, response) => {
    const address = new URL(url, origin)
    if (address.pathname === '/moved') {
      response.writeHead(302, { location: `http://localhost:${port}/linked${address.search}` }).end()
      return
    }
    response.setHeader('content-type', address.pathname.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8')
    const page = pages.get(address.pathname)
    if (page !== undefined) return void response.end(page)
    arrivals.push({ url: address, headers })
    response.end('<!doctype html><html lang="en"><title>Platform</title><link rel="icon" href="data:,"><h1>Back at the platform</h1>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const origin = `http://127.0.0.1:${port}`
  return {
    origin,
    linked: `${origin}/linked`,
    failed: `${origin}/failed`,
    moved: `${origin}/moved`,
    arrivals,
    pages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
