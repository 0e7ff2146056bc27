// Calls servers that have the same tables in turn, for a while. With Debian's
// libgrpc-java, from the root of the tree:
//
//   java -cp '/usr/share/java/*' examples/several_servers/Follow.java \
//       dns:///localhost:7400 examples/service_config.json 10

import com.google.gson.Gson;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

public final class Follow {
  static ManagedChannel openChannel(String target, String serviceConfig) {
    Map<String, ?> config = new Gson().fromJson(serviceConfig, Map.class);
    return ManagedChannelBuilder.forTarget(target)
        .usePlaintext()
        .defaultServiceConfig(config)
        .enableRetry()
        .keepAliveTime(12, TimeUnit.SECONDS)
        .keepAliveTimeout(12, TimeUnit.SECONDS)
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
  }

  // Bytes as they are: a request of nothing needs no stub.
  static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException error) {
        throw new IllegalStateException(error);
      }
    }
  }

  public static void main(String[] args) throws Exception {
    ManagedChannel channel =
        openChannel(args[0], Files.readString(Path.of(args[1])));
    MethodDescriptor<byte[], byte[]> lookup =
        MethodDescriptor.newBuilder(new Bytes(), new Bytes())
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("gatherd.v1.EmbeddingService/Lookup")
            .build();
    long end = System.nanoTime() + Long.parseLong(args[2]) * 1_000_000_000L;
    int numCalls = 0;
    int numFailed = 0;
    while (System.nanoTime() < end) {
      ++numCalls;
      try {
        ClientCalls.blockingUnaryCall(
            channel,
            lookup,
            CallOptions.DEFAULT.withDeadlineAfter(5, TimeUnit.SECONDS),
            new byte[0]);
      } catch (StatusRuntimeException error) {
        ++numFailed;
        System.err.println(error.getStatus());
      }
      Thread.sleep(1);
    }
    channel.shutdownNow();
    System.out.println(numCalls + " calls, " + numFailed + " failed");
  }
}
