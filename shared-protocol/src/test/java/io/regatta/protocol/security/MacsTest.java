package io.regatta.protocol.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

class MacsTest {
  @Property
  void codesAreThoseOfTheJdk(@ForAll @Size(min = 1, max = 150) byte[] key, @ForAll @Size(max = 4) List<byte[]> parts)
      throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      whole.write(part);
    }

    assertThat(Macs.of(key, parts.toArray(byte[][]::new))).isEqualTo(mac.doFinal(whole.toByteArray()));
  }
}
