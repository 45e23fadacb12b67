import { Client } from 'undici'
import { inParallel } from '../harness/pace.ts'

/** What the service's default limit grants an address at once; it is not a setting. */
const BY_ADDRESS = 200

export interface ProbeLoad {
  readonly count: number
  readonly atOnce: number
  /** The number of the first loopback address; different loads must not share addresses. */
  readonly firstAddress: number
}

/** Health checks over persistent connections, from as many addresses as their limit requires. @throws Error if one is refused. */
export async function probes(baseUrl: string, { count, atOnce, firstAddress }: ProbeLoad): Promise<void> {
  await inParallel(Math.ceil(count / BY_ADDRESS), atOnce, async index => {
    const number = firstAddress + index
    const client = new Client(baseUrl, { localAddress: `127.${1 + (number >> 8)}.${number & 255}.1` })
    for (let sent = 0; sent < BY_ADDRESS; sent += 1) {
      const { statusCode, body } = await client.request({ path: '/healthz', method: 'GET' })
      await body.text()
      if (statusCode !== 200) throw new Error(`/healthz answered ${statusCode}`)
    }
    await client.close()
  })
}
