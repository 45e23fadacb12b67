// What the clients of both streams have in common: a socket, waits for what it receives, and the end of the session.

import assert from 'node:assert/strict'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { type ClientOptions, WebSocket } from 'ws'
import type { Body } from './api.ts'

export interface SocketClose {
  readonly code: number
  readonly reason: string
}

export abstract class SocketClient implements AsyncDisposable {
  /** The last message as it came. */
  lastText = ''
  protected readonly socket: WebSocket
  /** What the service sent against its description. */
  #fault: Error | null = null
  /** What went wrong with the socket, for the message of its end. */
  #failure: Error | null = null
  #close: SocketClose | null = null
  #change = Promise.withResolvers<void>()

  constructor(url: string, options: ClientOptions = {}) {
    this.socket = new WebSocket(url, options)
    this.socket.on('message', (data, isBinary) => {
      this.lastText = String(data)
      const complaint = this.take(this.lastText, isBinary ? null : parsed(this.lastText))
      if (complaint !== null) this.#fault ??= new Error(`not of the promised form: ${this.lastText.slice(0, 1_000)}\n${complaint}`)
      this.#notify()
    })
    this.socket.on('open', () => this.#notify())
    this.socket.on('error', cause => (this.#failure ??= cause))
    this.socket.on('close', (code, reason) => {
      this.#close = { code, reason: String(reason) }
      this.#notify()
    })
  }

  /** Keeps a message. Returns what is wrong with it, or null. `message` is null for anything that is not JSON text. */
  protected abstract take(text: string, message: Body): string | null

  get isOver(): boolean {
    return this.#close !== null
  }

  /** Sends text and bytes as they are, anything else as JSON. */
  send(message: unknown): void {
    this.socket.send(typeof message === 'string' || message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  /** Returns when `condition` holds after something was received; fails if the session ends before. */
  async until(condition: () => boolean, what: string, limitMs = PATIENCE_MS): Promise<void> {
    const deadline = performance.now() + limitMs
    for (;;) {
      if (this.#fault !== null) throw this.#fault
      if (condition()) return
      const last = this.lastText.slice(0, 300)
      const end = `${this.#close?.code} ${this.#close?.reason} ${this.#failure ?? ''}`
      assert.equal(this.#close, null, `the session ended before ${what}: ${end} after ${last}`)
      await this.#wait(deadline, () => `waited ${limitMs} ms in vain until ${what}; the last message was ${last}`)
    }
  }

  /** How the session was ended. */
  async ended(limitMs = PATIENCE_MS): Promise<SocketClose> {
    const deadline = performance.now() + limitMs
    for (;;) {
      if (this.#close !== null) return this.#close
      await this.#wait(
        deadline,
        () => `waited ${limitMs} ms in vain for the session's end; the last message was ${this.lastText.slice(0, 300)}`
      )
    }
  }

  /** Reads nothing from the network until {@link resume}. */
  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }

  async close(): Promise<void> {
    if (this.#close === null) this.socket.close()
    await this.ended().finally(() => this.socket.terminate())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume()
    await this.close()
    if (this.#fault !== null) throw this.#fault
  }

  async #wait(deadline: number, complaint: () => string): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error(complaint())), Math.max(0, deadline - performance.now()))
    await Promise.race([this.#change.promise, late]).finally(() => clearTimeout(timer))
  }

  #notify(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers<void>()
  }
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
