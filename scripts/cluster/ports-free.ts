// The ports of a cluster are fixed, so another program may have one of them.
import { createServer } from 'node:net'
import type { Ports } from './options.ts'

/** @throws Error that names every port that is taken */
export async function assertFree({ nodes, ...others }: Ports): Promise<void> {
  const ports = [...Object.values(others), ...nodes.flatMap(({ http, between }) => [http, between])]
  const taken = (await Promise.all(ports.map(async port => ((await isFree(port)) ? [] : [port])))).flat()
  if (taken.length > 0)
    throw new Error(
      `${taken.length === 1 ? 'another program has port' : 'other programs have the ports'} ${taken.join(', ')}. Choose others with --port.`
    )
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
