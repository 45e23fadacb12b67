import { WebSocket } from 'ws'
import type { SnapshotPlan, SnapshotTimes } from '../driver-requests.ts'

const ANSWER_MS = 60_000

/** Requests past bars in a separate session. @param barsBeganAt when the sandbox began to send them. @throws Error if they do not arrive */
export async function snapshotTimes(plan: SnapshotPlan, barsBeganAt: () => number | null): Promise<SnapshotTimes> {
  const ws = new WebSocket(plan.url, { perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 })
  let firstAt: number | null = null
  let isRequested = false
  ws.on('upgrade', ({ socket }) =>
    socket.on('data', () => {
      if (isRequested) firstAt ??= performance.now()
    })
  )
  const next = () =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const patience = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS)
      ws.once('message', data => {
        clearTimeout(patience)
        resolve(Object(JSON.parse(String(data))))
      })
      ws.once('close', code => reject(new Error(`the session was closed with ${code}`)))
    })
  try {
    await new Promise<void>((resolve, reject) => ws.once('open', resolve).once('error', reject))
    ws.send(JSON.stringify({ action: 'authenticate', access_token: plan.token, request_id: 'hello' }))
    await next()
    barsBeganAt()
    isRequested = true
    const requestedAt = performance.now()
    const { symbol, from, to } = plan
    const request = { action: 'snapshot', symbol, start_time: from, end_time: to, data_type: 'bars', interval: '1m', request_id: 'bars' }
    ws.send(JSON.stringify(request))
    const answer = await next()
    const lastAt = performance.now()
    const sandboxAt = barsBeganAt()
    if (answer.type !== 'snapshot_response' || !Array.isArray(answer.data))
      throw new Error(`no snapshot: ${JSON.stringify(answer).slice(0, 300)}`)
    if (firstAt === null || sandboxAt === null) throw new Error('the service did not request the bars from the sandbox')
    return { sandboxMs: sandboxAt - requestedAt, firstMs: firstAt - requestedAt, lastMs: lastAt - requestedAt, bars: answer.data.length }
  } finally {
    ws.terminate()
  }
}
