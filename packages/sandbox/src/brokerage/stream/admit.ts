/** Applies the faults of `stream.connect` to an upgrade. */

import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Counters } from '../counters.ts'
import type { Fault } from '../faults.ts'

export interface Admission {
  readonly fault: Fault | undefined
  readonly counters: Counters
  readonly wait: (ms: number) => Promise<void>
}

/** @returns false if the fault has handled the socket. */
export async function admitStream(socket: Duplex, { fault, counters, wait }: Admission): Promise<boolean> {
  counters.request('stream.connect')
  if (fault === undefined) return true
  counters.fault('stream.connect')
  switch (fault.do) {
    case 'delay':
      await wait(fault.ms)
      return true
    case 'hang':
      return false
    case 'status':
    case 'html':
      socket.end(`HTTP/1.1 ${fault.status ?? 503} Refused\r\nConnection: close\r\nContent-Length: 0\r\n${retryAfter(fault)}\r\n`)
      return false
    default:
      if (socket instanceof Socket) socket.resetAndDestroy()
      else socket.destroy()
      return false
  }
}

function retryAfter({ retryAfter: seconds }: Fault): string {
  return seconds === null ? '' : `Retry-After: ${seconds}\r\n`
}
