/**
 * The interface of the engine: commands, events and views. All are plain JSON: decimals are text in plain notation,
 * times are numbers. A journal of commands, one `JSON.stringify` per line, rebuilds the engine exactly (see `engine.ts`).
 *
 * Time: `at` is whole microseconds since the Unix epoch as a `number` (exact until the year 2255). The engine has no clock: each command
 * has its time, and an `at` earlier than the latest one counts as the latest one, so engine time never runs backwards.
 */
export * from './commands.ts'
export * from './enums.ts'
export * from './events.ts'
export * from './records.ts'
