import type { Socket } from 'node:net'

/**
 * Ends a connection by RST, at once; its `close` event always follows. Where a reset is impossible it is closed instead: before it has
 * connected, and for the one turn of the event loop in which its shutdown is under way. Node neither resets nor closes a socket in that
 * state, never emits its end, and then does not get to the end of its own process (seen with 26.10; libuv answers EINVAL).
 */
export function sever(socket: Socket): void {
  const isShuttingDown = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0
  if (socket.connecting || isShuttingDown) socket.destroy()
  else socket.resetAndDestroy()
}
