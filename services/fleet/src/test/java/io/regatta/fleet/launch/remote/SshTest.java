package io.regatta.fleet.launch.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workspaces on their way, with a stand-in for ssh that runs here what it should run on another machine. */
class SshTest {

  @TempDir
  Path dir;

  private Path executable(String name, String text) throws IOException {
    Path file = Files.writeString(dir.resolve(name), text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
    return file;
  }

  @Test
  void when_a_host_begins_with_a_dash_then_it_is_refused() throws Exception {
    for (String line : List.of("-oProxyCommand=payload", "-host", "user@-host", "-l@host")) {
      Path hosts = Files.writeString(dir.resolve("hosts"), line + "\n");
      assertThatThrownBy(() -> RemoteHost.read(hosts)).as(line).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("line 1");
    }
  }

  @Test
  void the_host_follows_the_end_of_the_options() {
    assertThat(new Ssh("ssh").command(new RemoteHost(0, "a@b", "b", 0), "true")).containsSequence("--", "a@b");
  }

  @Test
  void where_one_of_the_two_machines_alone_has_rsync_tar_is_taken() throws Exception {
    executable("rsync", "#!/bin/sh\nexit 9\n"); // of this machine; the other has sh and tar
    Path there = Files.createDirectory(dir.resolve("there"));
    Path asked = dir.resolve("asked");
    executable("there/tar", "#!/bin/sh\nPATH='" + System.getenv("PATH") + "'\nexec tar \"$@\"\n");
    executable("there/sh", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    Path ssh = executable("ssh", "#!/bin/sh\nfor script; do :; done\necho \"$script\" >> '" + asked + "'\nPATH='" + there
        + "'\nexec /bin/sh -c \"$script\"\n");
    Path workspace = Files.createDirectory(dir.resolve("workspace"));
    Files.writeString(workspace.resolve("job.yaml"), "job: line\n");
    Path to = Files.createDirectory(dir.resolve("to"));
    new Ssh(ssh.toString(), dir.toString()).send(workspace, new RemoteHost(0, "a", "a", 0), to.toString());
    assertThat(to.resolve("job.yaml")).hasContent("job: line");
    assertThat(Files.readString(asked)).contains("command -v rsync");
  }
}
