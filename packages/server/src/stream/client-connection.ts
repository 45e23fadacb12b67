/** The connection of a session to its client, independent of the transport. Frames are sent in order. */
export interface ClientConnection {
  /** Queues a frame. Too many queued frames close the connection. */
  send(frame: Uint8Array): void
  /** Queues a text message, which must be ASCII, for messages to one reader: it is framed when it is written. */
  sendText(message: string): void
  /**
   * Whether more is buffered than one write takes: a sender that can send less should. {@link Listener.caughtUp} is called when it has been
   * sent.
   */
  readonly isBehind: boolean
  /** Resolves when nothing waits to be sent, or never will be. */
  idle(): Promise<void>
  /** Closes once everything sent before is out. */
  finish(code: number, reason: string): void
  /** Reads no messages until {@link resume}; they wait in the other side's socket. */
  pause(): void
  resume(): void
}

/** Receives what happens on a connection. Nothing is called after `gone`. */
export interface Listener {
  text(message: string): void
  /** A message that is not text. */
  binary(): void
  /** The connection was behind and is no longer. */
  caughtUp(): void
  gone(): void
}

/** Close codes of our own, and the standard ones we use. */
export const CLOSE = {
  goingAway: 1001,
  internal: 1011,
  /** The credentials could not be checked, so nothing is known about them. */
  tryAgain: 1013,
  unauthenticated: 4001,
  /** The token was superseded, or its connection or user was removed. */
  ended: 4003,
  slowConsumer: 4008,
  tooManyFailures: 4029
} as const
