// Calls servers that have the same tables in turn, for a while:
//
//	go run follow.go dns:///localhost:7400 ../service_config.json 10s
package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/health" // without it health is not asked for
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/types/known/emptypb"
)

func openChannel(target, serviceConfig string) (*grpc.ClientConn, error) {
	return grpc.NewClient(target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 12 * time.Second, Timeout: 12 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
}

// A request of nothing needs no stub.
func lookUp(conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return conn.Invoke(ctx, "/gatherd.v1.EmbeddingService/Lookup",
		&emptypb.Empty{}, &emptypb.Empty{})
}

func run(target, path, seconds string) error {
	serviceConfig, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	duration, err := time.ParseDuration(seconds)
	if err != nil {
		return err
	}
	conn, err := openChannel(target, string(serviceConfig))
	if err != nil {
		return err
	}
	defer conn.Close()
	calls, failed := 0, 0
	for end := time.Now().Add(duration); time.Now().Before(end); {
		calls++
		if err := lookUp(conn); err != nil {
			failed++
			fmt.Fprintln(os.Stderr, err)
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("%d calls, %d failed\n", calls, failed)
	return nil
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
