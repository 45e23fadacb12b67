// src/webhooks/errors.ts
var WebhookError = class extends Error {
  name = "WebhookError";
  code;
  constructor(code, message) {
    super(message);
    this.code = code;
  }
};

// src/webhooks/headers.ts
var HEADER_CHARS_MAX = 4096;
var SIGNATURES_MAX = 16;
var ID = /^[\x21-\x2d\x2f-\x7e]{1,256}$/;
var TIMESTAMP = /^\d{1,11}$/;
var SIGNATURE = /^(v\d{1,3}[a-z]{0,8}),([A-Za-z0-9+/]+={0,2})$/;
function signedHeaders(headers) {
  const id = one(headers, "webhook-id");
  if (!ID.test(id)) throw new WebhookError("webhook_malformed", "`webhook-id` is not an id.");
  const timestamp = one(headers, "webhook-timestamp");
  if (!TIMESTAMP.test(timestamp)) throw new WebhookError("webhook_malformed", "`webhook-timestamp` is not a number of seconds.");
  const listed = one(headers, "webhook-signature").split(" ");
  if (listed.length > SIGNATURES_MAX) throw new WebhookError("webhook_malformed", `There are more than ${SIGNATURES_MAX} signatures.`);
  return { id, timestamp, signatures: listed.map(signatureOf) };
}
function signatureOf(text) {
  const [, version = "", base64 = ""] = SIGNATURE.exec(text) ?? [];
  if (version === "") throw new WebhookError("webhook_malformed", "`webhook-signature` has something that is not a signature.");
  return { version, base64 };
}
function one(headers, name) {
  const [value, ...others] = valuesOf(headers, name);
  if (value === void 0) throw new WebhookError("webhook_malformed", `\`${name}\` is missing.`);
  if (others.length > 0 || value.includes(", ")) throw new WebhookError("webhook_malformed", `\`${name}\` comes twice.`);
  if (value.length > HEADER_CHARS_MAX) throw new WebhookError("webhook_malformed", `\`${name}\` is too long.`);
  return value;
}
function valuesOf(headers, name) {
  if (Object(headers) !== headers) throw new WebhookError("setting_invalid", "`headers` must be those of the request, and are missing.");
  if (typeof headers.get === "function") return [headers.get(name) ?? []].flat();
  return Object.entries(headers).filter(([key]) => key.toLowerCase() === name).flatMap(([, value]) => value ?? []);
}

// src/webhooks/keys.ts
var KEYS_MAX = 8;
var SECRET_BYTES = { min: 24, max: 64 };
var PUBLIC_KEY_BYTES = 32;
var MAC_BYTES = 32;
var ED25519_BYTES = 64;
var BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
function verifiersOf(secrets, publicKeys) {
  const count = secrets.length + publicKeys.length;
  if (count === 0) throw new WebhookError("setting_invalid", "Give `secrets` or `publicKeys`: with neither, nothing can be verified.");
  if (count > KEYS_MAX) throw new WebhookError("setting_invalid", `There are more than ${KEYS_MAX} keys.`);
  return [...secrets.map(byHmac), ...publicKeys.map(byEd25519)];
}
function byHmac(secret) {
  const key = keyBytes(secret, "whsec_");
  if (key === null || key.length < SECRET_BYTES.min || key.length > SECRET_BYTES.max)
    throw new WebhookError("setting_invalid", "A secret is `whsec_` with the base64 of 24 to 64 bytes.");
  return {
    async verify(content, signatures) {
      const ours = signatures.filter(({ version }) => version === "v1");
      if (ours.length === 0) return false;
      const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      const mac = new Uint8Array(await crypto.subtle.sign("HMAC", imported, content));
      return ours.some(({ base64 }) => isEqual(mac, bytesOf(base64)));
    }
  };
}
function byEd25519(publicKey) {
  const key = keyBytes(publicKey, "whpk_");
  if (key?.length !== PUBLIC_KEY_BYTES) throw new WebhookError("setting_invalid", "A public key is `whpk_` with the base64 of 32 bytes.");
  return {
    async verify(content, signatures) {
      const ours = signatures.filter(({ version }) => version === "v1a").map(({ base64 }) => bytesOf(base64));
      if (ours.length === 0) return false;
      const imported = await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]).catch(() => {
        throw new WebhookError("setting_invalid", "The public key is not one of Ed25519, or this runtime does not have Ed25519.");
      });
      for (const signature of ours) {
        if (signature?.length === ED25519_BYTES && await crypto.subtle.verify("Ed25519", imported, signature, content)) return true;
      }
      return false;
    }
  };
}
function keyBytes(text, prefix) {
  return text.startsWith(prefix) ? bytesOf(text.slice(prefix.length)) : null;
}
function bytesOf(base64) {
  if (!BASE64.test(base64)) return null;
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
function isEqual(mac, other) {
  if (other?.length !== MAC_BYTES) return false;
  return mac.reduce((difference, byte, at) => difference | byte ^ (other[at] ?? 0), 0) === 0;
}

// src/webhooks/verify.ts
var BODY_BYTES_MAX = 8388608;
async function verifyWebhook(options = Object()) {
  const { toleranceSeconds = 300, now = Date.now } = options;
  if (!(toleranceSeconds >= 0)) throw new WebhookError("setting_invalid", "`toleranceSeconds` is a number from 0 on.");
  const verifiers = verifiersOf(options.secrets ?? [], options.publicKeys ?? []);
  const body = bytesIn(options.body, options.bodyBytesMax ?? BODY_BYTES_MAX);
  const { id, timestamp, signatures } = signedHeaders(options.headers);
  const age = now() / 1e3 - Number(timestamp);
  if (!(age <= toleranceSeconds)) throw new WebhookError("webhook_too_old", `The webhook is older than ${toleranceSeconds} seconds.`);
  if (-age > toleranceSeconds) throw new WebhookError("webhook_too_new", `The webhook is more than ${toleranceSeconds} seconds ahead.`);
  const content = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  for (const verifier of verifiers) {
    if (await verifier.verify(content, signatures)) return { id, sentAt: new Date(Number(timestamp) * 1e3), ...parsed(body) };
  }
  throw new WebhookError("webhook_signature_invalid", "None of the signatures is of this id, time and body by one of the keys.");
}
function bytesIn(body, max) {
  const size = typeof body === "string" ? body.length : body?.byteLength;
  if (typeof size !== "number")
    throw new WebhookError("setting_invalid", "The body must be the text or the bytes that were received, before they are parsed.");
  const tooLarge = () => new WebhookError("webhook_too_large", `The body is longer than ${max} bytes.`);
  if (size > max) throw tooLarge();
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (typeof body !== "string") return body;
  const bytes = new TextEncoder().encode(body);
  if (bytes.length > max) throw tooLarge();
  return bytes;
}
function joined(head, body) {
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  return content;
}
function parsed(body) {
  const value = objectIn(body);
  if (typeof value?.type !== "string" || !Array.isArray(value.data) || !value.data.every(isEvent))
    throw new WebhookError(
      "webhook_malformed",
      'The body is signed, and is not `{ "type": …, "data": [ … ] }` with an event in each place.'
    );
  return { type: value.type, data: value.data };
}
function objectIn(body) {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
    return Object(value);
  } catch {
    return null;
  }
}
function isEvent(value) {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}
export {
  WebhookError,
  verifyWebhook
};
//# sourceMappingURL=webhooks.js.map
