package io.regatta.protocol.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Indeterminate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.StatusException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class ErrorMappingTest {

  @Test
  void every_error_comes_back_as_itself_and_has_a_status_of_its_own() throws Exception {
    Set<GrpcStatus> statuses = new HashSet<>();
    for (Class<?> type : RegattaException.class.getPermittedSubclasses()) {
      RegattaException error = type == Indeterminate.class ? new Indeterminate("what, where, what next", null)
          : (RegattaException) type.getConstructor(String.class).newInstance("what, where, what next");
      GrpcStatus status = ErrorMapping.status(error);
      assertThat(statuses.add(status)).as("%s shares %s", type, status).isTrue();
      assertThat(ErrorMapping.exception(status, error.getMessage())).isInstanceOf(type)
          .hasMessage("what, where, what next");
    }
  }

  @Test
  void a_status_that_none_of_ours_has_is_understood() {
    assertThat(ErrorMapping.exception(GrpcStatus.UNIMPLEMENTED, "no")).isInstanceOf(InvalidInput.class);
    assertThat(ErrorMapping.exception(GrpcStatus.NOT_FOUND, "no")).isInstanceOf(NotOwner.class);
    assertThat(ErrorMapping.exception(GrpcStatus.DEADLINE_EXCEEDED, "no")).isInstanceOf(PeerLost.class);
    assertThat(ErrorMapping.exception(GrpcStatus.INTERNAL, "no")).isInstanceOf(Indeterminate.class);
    assertThat(ErrorMapping.exception(null, null)).isInstanceOf(Indeterminate.class).hasMessageContaining("UNKNOWN");
  }

  @Test
  void a_peers_text_forges_no_line_of_a_log() {
    assertThat(ErrorMapping.exception(GrpcStatus.UNAVAILABLE, "gone\n12:00:00.000 ERROR forged\u001b[2J é"))
        .hasMessage("gone\\u000a12:00:00.000 ERROR forged\\u001b[2J é");
  }

  @Test
  void failures_of_others_keep_their_text() {
    InvalidInput ours = new InvalidInput("ours");
    assertThat(ErrorMapping.regatta(new CompletionException(ours))).isSameAs(ours);
    assertThat(ErrorMapping.regatta(new StatusException(GrpcStatus.ABORTED, "moved on")))
        .isInstanceOf(RegattaException.StaleGeneration.class).hasMessage("moved on");
    assertThat(ErrorMapping.regatta(new IllegalStateException("bug"))).isInstanceOf(Indeterminate.class)
        .hasMessageContaining("bug");
    assertThat(ErrorMapping.toStatus(ours).status()).isEqualTo(GrpcStatus.INVALID_ARGUMENT);
    assertThat(ErrorMapping.toStatus(new InvalidInput("x".repeat(1 << 20))).message()).hasSizeLessThan(5000);
  }

  @Test
  void the_encoding_is_that_of_the_grpc_protocol() {
    assertThat(ErrorMapping.encode("100 % größer +\n")).isEqualTo("100 %25 gr%C3%B6%C3%9Fer +%0A");
    assertThat(ErrorMapping.decode("100 %25 gr%c3%B6%C3%9Fer +%0A")).isEqualTo("100 % größer +\n");
    assertThat(ErrorMapping.decode("50% off, 5%2")).as("kept as it is").isEqualTo("50% off, 5%2");
  }

  @Property
  void any_text_comes_back_or_its_beginning(@ForAll @StringLength(max = 3000) String raw) {
    String text = new String(raw.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8); // no lone surrogates
    String encoded = ErrorMapping.encode(text);
    assertThat(encoded).matches("[ -~]*").hasSizeLessThanOrEqualTo(ErrorMapping.MAX_ENCODED);
    String decoded = ErrorMapping.decode(encoded);
    if (!decoded.equals(text)) {
      assertThat(decoded).endsWith(" ...");
      assertThat(text).startsWith(decoded.substring(0, decoded.length() - 4));
      assertThat(encoded).hasSizeGreaterThan(ErrorMapping.MAX_ENCODED - 20);
    }
  }

  @Property
  void nothing_that_a_peer_sends_breaks_the_decoding(@ForAll String noise) {
    for (String s : List.of(noise, "%" + noise, noise + "%4")) {
      assertThat(ErrorMapping.decode(s)).isNotNull();
    }
    assertThat(Arrays.asList(GrpcStatus.values())).allSatisfy(s ->
        assertThat(ErrorMapping.exception(s, noise).getMessage()).isNotBlank());
  }
}
