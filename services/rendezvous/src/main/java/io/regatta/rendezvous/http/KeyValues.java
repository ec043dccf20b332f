package io.regatta.rendezvous.http;

/** What a key-value server holds, and how it is asked for. Owned by its {@link KeyValueServer}, on that one's loop. */
interface KeyValues {

  /**
   * Does one request.
   *
   * @param path as it stood in the request, not decoded
   * @param body empty if there was none
   */
  Answer answer(String method, String path, Condition condition, byte[] body);

  /** For the log, e.g. {@code gloo's key-value server}. */
  String what();

  /** Value of the header Content-Type; null: none is sent. */
  String contentType();
}
