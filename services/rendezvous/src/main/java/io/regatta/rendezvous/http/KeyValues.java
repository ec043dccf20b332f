package io.regatta.rendezvous.http;

/** The content of a key-value server, with its requests. Owned by its {@link KeyValueServer}, on its loop. */
interface KeyValues {

  /**
   * Carries out one request.
   *
   * @param path as it stood in the request, not decoded
   * @param body empty if there was none
   */
  Answer answer(String method, String path, Condition condition, byte[] body);

  /** Returns a name for the log, e.g. {@code gloo's key-value server}. */
  String what();

  /** Returns the value of the header Content-Type; null: none is sent. */
  String contentType();
}
