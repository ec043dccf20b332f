package io.regatta.protocol.security;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import java.util.concurrent.TimeUnit;

/**
 * The request of {@link CallAuthorization} to a peer with HTTP/2: a call that the peer's guard answers, whatever its
 * name. It uses a connection of its own. The connection of the calls that wait for the answer may have no place left:
 * a server takes few calls of a connection before the first one proves the token. Stateless.
 */
public final class GreetingCall {
  private static final String PATH = "/regatta.Authentication/Greet";

  private GreetingCall() {}

  /**
   * Sends the call. Fails if the answer does not come in time: calls that wait for it would otherwise wait for ever.
   *
   * @param header {@code authorization}
   * @return the header {@code www-authenticate} of the answer, or null
   */
  public static Future<String> send(Vertx vertx, String host, int port, String header, int timeoutMillis) {
    HttpClientAgent client = vertx.createHttpClient(new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2)
        .setHttp2ClearTextUpgrade(false).setConnectTimeout(timeoutMillis));
    return client.request(new RequestOptions().setMethod(HttpMethod.POST).setHost(host).setPort(port).setURI(PATH)
            .setConnectTimeout(timeoutMillis).putHeader("content-type", "application/grpc").putHeader("te", "trailers")
            .putHeader(Token.HEADER, header))
        .compose(HttpClientRequest::send)
        .map(answer -> answer.getHeader("www-authenticate"))
        .timeout(timeoutMillis, TimeUnit.MILLISECONDS)
        .onComplete(done -> client.close());
  }
}
