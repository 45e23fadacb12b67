/** A session's end of its connection, whatever carries it. Frames go out in the order in which they were sent. */
export interface ClientConnection {
  /** Queues a frame. Too many of them end the line. */
  send(frame: Uint8Array): void
  /** Queues a text message, which must be ASCII. For messages that go to one reader: they are framed as they are gathered. */
  sendText(message: string): void
  /** Whether more waits than one write takes: whoever can send less should. {@link Listener.relieved} tells the end of it. */
  readonly isBehind: boolean
  /** Resolves when nothing waits to be sent, or never will be. */
  idle(): Promise<void>
  /** Closes once everything sent before is out. */
  finish(code: number, reason: string): void
  /** Takes no messages until {@link resume}; what the other side sends waits in its own socket. */
  pause(): void
  resume(): void
}

/** What is heard on a line. Nothing is told after `gone`. */
export interface Listener {
  text(message: string): void
  /** A message that is not text. */
  binary(): void
  /** The line was behind and is no longer. */
  caughtUp(): void
  gone(): void
}

/** Close codes of our own, and the standard ones we use. */
export const CLOSE = {
  goingAway: 1001,
  internal: 1011,
  unauthenticated: 4001,
  /** What the session stood on is gone: its token was followed by another, its connection or user is no more. */
  ended: 4003,
  slowConsumer: 4008,
  tooManyFailures: 4029
} as const
