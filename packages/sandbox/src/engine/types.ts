/**
 * The interface of the engine: commands in, events out, views on request. All of it is plain JSON: decimals are text in plain notation,
 * times are numbers. A journal of commands, one `JSON.stringify` a line, rebuilds the engine exactly (see `engine.ts`).
 *
 * Time: `at` is whole microseconds since the Unix epoch as a `number` (exact until the year 2255). The engine has no clock: each command says
 * when it happens, and an `at` earlier than the latest one seen counts as the latest one seen, so engine time never runs backwards.
 */
export * from './commands.ts'
export * from './enums.ts'
export * from './events.ts'
export * from './records.ts'
